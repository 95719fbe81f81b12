import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ShardServers, startShardServers } from "../../../bench/cluster/shard-servers.js";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { DATABASE, connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { type ImportTarget, makeTarget } from "../../../support/imports/import-target.js";
import { makeExporter } from "../../../support/imports/import-world.js";
import { type Toolchain, startToolchain } from "../../../support/program/start-toolchain.js";
import { useFolder } from "../../../support/use-folder.js";

/** Two servers without replicas, as every machine can have them. Servers with replicas: system-on-cluster. */
const dir = useFolder("shard-servers");
let servers: ShardServers;
let toolchain: Toolchain;
let api: ApiClient;
let target: ImportTarget;

const ORGANIZATION = "on-shards";
/** By the first import of a body, with what it is. */
const kept = new Map<string, Buffer>();

beforeAll(async () => {
  servers = await startShardServers({ dir, count: 2, log: pino({ level: "silent" }) });
  const env = { CLICKHOUSE_URL: servers.url, CLICKHOUSE_SHARDS: servers.shards };
  toolchain = await startToolchain({ env });
  api = await makeExporter(toolchain, ORGANIZATION);
  target = await makeTarget(api, { organization: ORGANIZATION, libraryType: "docker" });
});

afterAll(async () => {
  await toolchain?.close();
  await servers?.[Symbol.asyncDispose]();
});

/** Events whose ids every body has, so that each overrides those before it, on whatever shard they are. */
async function importBody(seed: number): Promise<void> {
  const body = target.bodyOf({ seed, count: 1_000, clients: 200, days: 10 });
  kept.set((await target.send(api, body)).id, body);
}

const expectExports = () => target.expectExports(api, ...kept.values());

async function rowsByShard(): Promise<number[]> {
  const { username, password } = new URL(servers.url);
  return Promise.all(
    servers.servers.map(async ({ url }) => {
      const own = Object.assign(new URL(url), { username, password });
      await using client = connectClickHouse(own.href, { database: DATABASE });
      const answer = await client.query({
        query: "SELECT count() AS rows FROM events",
        format: "JSONEachRow",
      });
      return Number((await answer.json<{ rows: string }>())[0]?.rows);
    }),
  );
}

const BODIES_MAX = 30;

test("events that lie on two shards, with overrides across them, count as on one server", async () => {
  for (let seed = 1; seed <= BODIES_MAX; seed += 1) {
    await importBody(seed);
    if (seed > 2 && !(await rowsByShard()).includes(0)) break;
  }
  expect(await rowsByShard()).not.toContain(0);
  await expectExports();
});

test("a retracted import leaves what was there before it, on every shard", async () => {
  const id = [...kept.keys()].at(-1) ?? "";
  await retract(api, `/v2/imports/${ORGANIZATION}/${id}`);
  kept.delete(id);
  await expectExports();
});

test("without one of the shards an export fails, and never has smaller numbers", async () => {
  await servers.servers[1]?.[Symbol.asyncDispose]();
  const path = `/v1/organizations/${ORGANIZATION}/aggregates?startDate=2025-03-01&endDate=2025-04-01`;
  const answer = await api.request(path);
  expect(answer.status).toBeGreaterThanOrEqual(500);
});
