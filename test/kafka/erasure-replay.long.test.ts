import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import { channelOf } from "../../schemas/fault-point.js";
import { openPersistentClickHouse } from "../faults/worlds/fault-world.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";
import { makeOrganization, makePackage } from "../support/imports/make-artifacts.js";
import { onPostgres } from "../support/stores/on-postgres.js";
import { startCluster, type Cluster } from "../support/program/start-cluster.js";
import { newestImport } from "../support/imports/start-upload.js";
import type { Toolchain } from "../support/program/start-toolchain.js";

const ARM = new URL("../faults/worlds/arm.mjs", import.meta.url).href;
const CHANNEL = channelOf("after-insert");

describeWithBroker("what was deleted, when the log is read again", (broker) => {
  let dir: string;
  let cluster: Cluster;
  let enricher: Toolchain;
  let api: ApiClient;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "toolchain-replay-"));
    // Killed when the rows are in ClickHouse and nobody knows yet.
    const death = { id: "once", channel: CHANNEL, hit: 1, action: "kill program", delayMs: 0 };
    await writeFile(join(dir, "plan.json"), JSON.stringify([death]));
    const env = {
      NODE_OPTIONS: `--import ${ARM}`,
      FAULT_CHANNELS: CHANNEL,
      FAULT_PLAN: join(dir, "plan.json"),
      KAFKA_TOPIC_PREFIX: `replay-${Date.now()}.`,
      KAFKA_PARTITIONS: "2",
      KAFKA_SESSION_TIMEOUT_MS: String(broker().sessionTimeoutMs),
    };
    cluster = await startCluster({ brokers: broker().brokers, env });
    const first = await cluster.add("api");
    enricher = await cluster.add("enrich");
    await cluster.add("jobs");
    api = await first.newAccount("ada");
    await makeOrganization(api, "acme");
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  });

  async function countEvents(artifact: string): Promise<number> {
    const clickhouse = openPersistentClickHouse(() => cluster.clickhouseUrl);
    const [row] = await clickhouse.rows<{ events: string }>(
      `SELECT count() AS events FROM events WHERE artifact = '${artifact}'`,
    );
    return Number(row?.events);
  }

  const countChunks = (importId: string) =>
    onPostgres(cluster.postgresUrl, async (client) => {
      const { rows } = await client.query("select from import_chunks where import_id = $1", [importId]);
      return rows.length;
    });

  test("its events do not come back", async () => {
    const gone = await makePackage(api, { organization: "acme", name: "gone", libraryType: "other" });
    const kept = await makePackage(api, { organization: "acme", name: "kept", libraryType: "other" });
    const lines = [gone, kept].map(({ id }) => `{"$time":"2025-03-10","$package":"${id}"}`);
    await api.importBody("/v2/acme/import", lines.join("\n"));
    await enricher.gone;
    expect(await countEvents(gone.id)).toBe(1);
    const started = (await newestImport(api, "acme"))?.id ?? "";
    expect((await api.request(`/v2/imports/acme/${started}/abort`, { method: "POST" })).status).toBe(204);
    expect((await api.request(`/v1/packages/${gone.id}`, { method: "DELETE" })).status).toBe(204);
    await expect.poll(() => countEvents(gone.id)).toBe(0);

    await enricher.restart();
    await expect.poll(() => countChunks(started)).toBe(1);
    expect(await countEvents(gone.id)).toBe(0);
    expect(await countEvents(kept.id)).toBe(1);
  });
});
