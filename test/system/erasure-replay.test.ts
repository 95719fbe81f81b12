import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectClickHouse } from "../../deploy/connect-clickhouse.js";
import { connectApi, type ApiClient } from "../../deploy/demo/api-client.js";
import { channelOf } from "../../schemas/fault-point.js";
import { makeOrganization, makePackage } from "../support/make-artifacts.js";
import { newestImport } from "../support/start-upload.js";
import { startToolchain, type Toolchain } from "../support/start-toolchain.js";

const ARM = new URL("../faults/arm.mjs", import.meta.url).href;
const CHANNEL = channelOf("after-insert");

let dir: string;
let toolchain: Toolchain;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "toolchain-replay-"));
  await plan([]);
  const env = {
    NODE_OPTIONS: `--import ${ARM}`,
    FAULT_CHANNELS: CHANNEL,
    FAULT_PLAN: join(dir, "plan.json"),
  };
  toolchain = await startToolchain({ env });
});

afterAll(async () => {
  await toolchain?.close();
  await rm(dir, { recursive: true, force: true });
});

async function plan(faults: object[]): Promise<void> {
  await writeFile(join(dir, "plan.json"), JSON.stringify(faults));
}

/** The program has other ports after each start. */
const connected = ({ token }: ApiClient) => connectApi(toolchain.api, token);

async function countEvents(artifact: string): Promise<number> {
  const clickhouse = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  const query = "SELECT count() AS events FROM events WHERE artifact = {artifact:UUID}";
  const answer = await clickhouse.query({ query, query_params: { artifact }, format: "JSONEachRow" });
  const [row] = await answer.json<{ events: string | number }>();
  await clickhouse.close();
  return Number(row?.events);
}

async function countChunks(importId: string): Promise<number> {
  const client = new pg.Client({ connectionString: toolchain.endpoints.postgres });
  await client.connect();
  const { rows } = await client.query("select from import_chunks where import_id = $1", [importId]);
  await client.end();
  return rows.length;
}

test("events of a deleted package do not come back when the log is read again", async () => {
  let api = await toolchain.newAccount("ada");
  await makeOrganization(api, "acme");
  const gone = await makePackage(api, { organization: "acme", name: "gone", libraryType: "other" });
  const kept = await makePackage(api, { organization: "acme", name: "kept", libraryType: "other" });

  // Killed when the rows are in ClickHouse and nobody knows yet.
  await plan([{ id: "once", channel: CHANNEL, hit: 1, action: "kill program", delayMs: 0 }]);
  const lines = [gone, kept].map(({ id }) => `{"$time":"2025-03-10","$package":"${id}"}`);
  await api.importBody("/v2/acme/import", lines.join("\n")).catch(() => undefined);
  await toolchain.gone;
  await plan([]);
  await toolchain.restart({ ROLES: "api,jobs" });
  api = connected(api);
  expect(await countEvents(gone.id)).toBe(1);
  const started = (await newestImport(api, "acme"))?.id ?? "";
  expect((await api.request(`/v2/imports/acme/${started}/abort`, { method: "POST" })).status).toBe(204);
  expect((await api.request(`/v1/packages/${gone.id}`, { method: "DELETE" })).status).toBe(204);
  await expect.poll(() => countEvents(gone.id)).toBe(0);

  await toolchain.restart();
  await expect.poll(() => countChunks(started)).toBe(1);
  expect(await countEvents(gone.id)).toBe(0);
  expect(await countEvents(kept.id)).toBe(1);
});
