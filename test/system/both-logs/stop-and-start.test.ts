import { expect, test } from "vitest";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf } from "../../support/imports/import-outcome.js";
import { makeTarget } from "../../support/imports/import-target.js";
import { openUpload } from "../../support/imports/open-upload.js";
import { api, restart, toolchain, useToolchain } from "../../support/program/use-toolchain.js";

const ORGANIZATION = "drained";

useToolchain({ organizations: [ORGANIZATION] });

test("a program that is told to stop (SIGINT) in the middle of an upload takes nothing new and finishes what its sender finishes", async () => {
  const target = await makeTarget(api, { organization: ORGANIZATION });
  const bytes = target.bodyOf({ count: 10_000 });

  const upload = openUpload(api, target.path);
  await upload.send(bytes.subarray(0, bytes.length - 1));
  const stopped = toolchain.kill("SIGINT");
  await expect.poll(refusesConnections).toBe(true);
  await upload.send(bytes.subarray(bytes.length - 1));
  upload.end();
  const { status, body: started } = await upload.answer;
  expect(status).toBe(200);
  // The program gives itself 20 seconds and then ends with status 1.
  expect(await stopped).toBe(0);

  await restart();
  const record = await api.pollToDone(started as EventImport);
  expect([outcomeOf(record)]).toEqual(target.recount(bytes).imports.map(expectedOutcome));
  await target.expectExports(api, bytes);
});

async function refusesConnections(): Promise<boolean> {
  try {
    await (await fetch(`${toolchain.api}/healthz`)).text();
    return false;
  } catch {
    return true;
  }
}
