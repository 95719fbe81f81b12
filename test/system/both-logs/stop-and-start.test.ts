import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf, readUntil } from "../../support/imports/import-outcome.js";
import { type RecountBodies, openImportWorld } from "../../support/imports/import-world.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { openUpload } from "../../support/imports/open-upload.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "drained";

let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;

beforeAll(async () => {
  ({ toolchain, api, recountBodies } = await openImportWorld(ORGANIZATION));
});

afterAll(() => toolchain?.close());

test("a program that is told to stop (SIGINT) in the middle of an upload takes nothing new and finishes what its sender finishes", async () => {
  const artifact = await makePackage(api, {
    organization: ORGANIZATION,
    name: "files",
    libraryType: "other",
  });
  const packages = [{ id: artifact.id, libraryType: "other" as const }];
  const mix = { seed: 41, clients: 2_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
  const bytes = Buffer.concat([...generateBody({ ...mix, count: 10_000 })]);

  const upload = openUpload(api, `/v2/packages/${ORGANIZATION}/${artifact.id}/import`);
  await upload.send(bytes.subarray(0, bytes.length - 1));
  const stopped = toolchain.kill("SIGINT");
  await expect.poll(refusesConnections).toBe(true);
  await upload.send(bytes.subarray(bytes.length - 1));
  upload.end();
  const { status, body: started } = await upload.answer;
  expect(status).toBe(200);
  // The program gives itself 20 seconds and then ends with status 1.
  expect(await stopped).toBe(0);

  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
  const record = await api.pollToDone(started as EventImport);
  const { imports, aggregates } = recountBodies([{ bytes, target: artifact.id }], [artifact]);
  expect([outcomeOf(record)]).toEqual(imports.map(expectedOutcome));
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
});

async function refusesConnections(): Promise<boolean> {
  try {
    await (await fetch(`${toolchain.api}/healthz`)).text();
    return false;
  } catch {
    return true;
  }
}
