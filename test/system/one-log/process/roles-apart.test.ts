import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startFailing } from "../../../support/program/start-failing.js";

test("a process that leaves roles to others does not start on stores that these cannot see", async () => {
  const folder = await mkdtemp(join(tmpdir(), "roles-apart-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const ended = await startFailing({ DATA_DIR: join(folder, "data"), ROLES: "api" });
  const sentence = "ROLES leaves enrich and jobs to other processes, which cannot use embedded stores: set";
  expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
});
