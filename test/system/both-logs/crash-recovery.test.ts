import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import { pause } from "../../../schemas/async/pause.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf } from "../../support/imports/import-outcome.js";
import { openImportWorld } from "../../support/imports/import-world.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { RecountBodies } from "../../support/imports/open-recount.js";
import { readUntil } from "../../support/program/read-until.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { startUpload } from "../../support/imports/start-upload.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "survivor";
const TWO_WORKERS = { ENRICH_WORKERS: "2" };

let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;
let artifact: KnownArtifact;
let path: string;

beforeAll(async () => {
  ({ toolchain, api, recountBodies } = await openImportWorld(ORGANIZATION, { env: TWO_WORKERS }));
});

afterAll(() => toolchain?.close());

async function openPackage(name: string): Promise<void> {
  artifact = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "docker" });
  path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
}

function bodyOf(part: { count: number; startAt: number }): Buffer {
  const packages = [{ id: artifact.id, libraryType: "docker" as const }];
  const mix = { seed: 31, clients: 3_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
  return Buffer.concat([...generateBody({ ...mix, ...part })]);
}

const recountOf = (...bodies: Buffer[]) =>
  recountBodies(
    bodies.map((bytes) => ({ bytes, target: artifact.id })),
    [artifact],
  );

async function killAndRestart(): Promise<void> {
  expect(await toolchain.kill("SIGKILL")).toBe("SIGKILL");
  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
}

const importOf = ({ id }: EventImport) => api.get<EventImport>(`/v2/imports/${ORGANIZATION}/${id}`);

test("an import that was answered is done exactly, though the program is killed on the way", async () => {
  await openPackage("killed-while-importing");
  const body = bodyOf({ count: 20_000, startAt: 0 });
  const started = await api.importBody(path, body, { gzip: true });
  expect(started.status).toBe("importing");
  // The fault suite kills it at named points, and again while it works through what that left.
  await pause(100);
  await killAndRestart();
  const record = await api.pollToDone(started);
  const { imports, aggregates } = recountOf(body);
  expect([outcomeOf(record)]).toEqual(imports.map(expectedOutcome));
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
}, 180_000);

test("an upload that the program was killed under is aborted, and nothing of it stays", async () => {
  await openPackage("killed-while-uploading");
  const kept = bodyOf({ count: 3_000, startAt: 0 });
  await api.pollToDone(await api.importBody(path, kept));
  const { upload, started: interrupted } = await startUpload(api, { owner: ORGANIZATION, path });
  await upload.send(bodyOf({ count: 8_000, startAt: 3_000 }));
  // Some of it is written when the program dies.
  await expect.poll(async () => (await importOf(interrupted)).events_total).toBeGreaterThan(0);
  await killAndRestart();
  await expect(upload.answer).rejects.toThrow();

  // Others import meanwhile; its lease tells the program that nobody goes on with it.
  const later = bodyOf({ count: 1_000, startAt: 11_000 });
  await api.pollToDone(await api.importBody(path, later));
  const status = async () => (await importOf(interrupted)).status;
  await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe("aborted");
  const record = await importOf(interrupted);
  expect(record.events_successfully_imported).toBe(0);
  expect(record.error_log_sample[0]).toMatchObject({ class: "error", type: "upload-interrupted", line: 0 });
  const { aggregates } = recountOf(kept, later);
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
}, 180_000);
