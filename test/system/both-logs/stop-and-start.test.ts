import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf } from "../../support/imports/import-outcome.js";
import { openImportWorld } from "../../support/imports/import-world.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { RecountBodies } from "../../support/imports/open-recount.js";
import { openUpload } from "../../support/imports/open-upload.js";
import { readUntil } from "../../support/program/read-until.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { startFailing } from "../../support/program/start-failing.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "drained";

let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;
let artifact: KnownArtifact;
let path: string;

beforeAll(async () => {
  ({ toolchain, api, recountBodies } = await openImportWorld(ORGANIZATION));
});

afterAll(() => toolchain?.close());

async function openPackage(name: string): Promise<void> {
  artifact = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "other" });
  path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
}

function bodyOf(count: number): Buffer {
  const packages = [{ id: artifact.id, libraryType: "other" as const }];
  const mix = { seed: 41, clients: 2_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
  return Buffer.concat([...generateBody({ ...mix, count })]);
}

async function restart(): Promise<void> {
  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
}

async function expectDone(started: EventImport, bytes: Buffer): Promise<void> {
  const record = await api.pollToDone(started);
  const { imports, aggregates } = recountBodies([{ bytes, target: artifact.id }], [artifact]);
  expect([outcomeOf(record)]).toEqual(imports.map(expectedOutcome));
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
}

describe("a program that is told to stop", () => {
  test("in the middle of an import (SIGTERM) ends with status 0, and the import is done after the next start", async () => {
    await openPackage("importing");
    const body = bodyOf(20_000);
    const started = await api.importBody(path, body);
    expect(started.status).toBe("importing");
    // The program gives itself 20 seconds and then ends with status 1.
    expect(await toolchain.kill("SIGTERM")).toBe(0);
    await restart();
    await expectDone(started, body);
  });

  test("in the middle of an upload (SIGINT) takes nothing new and finishes what its sender finishes", async () => {
    await openPackage("uploading");
    const body = bodyOf(10_000);
    const upload = openUpload(api, path);
    await upload.send(body.subarray(0, body.length - 1));
    const stopped = toolchain.kill("SIGINT");
    await expect.poll(refusesConnections, { timeout: 10_000 }).toBe(true);
    await upload.send(body.subarray(body.length - 1));
    upload.end();
    const { status, body: started } = await upload.answer;
    expect(status).toBe(200);
    expect(await stopped).toBe(0);
    await restart();
    await expectDone(started as EventImport, body);
  });

  async function refusesConnections(): Promise<boolean> {
    try {
      await (await fetch(`${toolchain.api}/healthz`)).text();
      return false;
    } catch {
      return true;
    }
  }
});

test("a second program on the same directory says who holds it, and ends with status 1", async () => {
  const ended = await startFailing({ DATA_DIR: toolchain.dataDir });
  const sentence = `DATA_DIR ${toolchain.dataDir} is in use by process ${toolchain.pid}: stop it first`;
  expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
});
