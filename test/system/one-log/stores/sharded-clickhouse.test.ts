import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ShardServers, startShardServers } from "../../../bench/cluster/shard-servers.js";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { generateBody } from "../../../../deploy/demo/generate-events.js";
import { DATABASE, connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { type RecountBodies, makeExporter, openRecount } from "../../../support/imports/import-world.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { readUntil } from "../../../support/imports/import-outcome.js";
import { type Toolchain, startToolchain } from "../../../support/program/start-toolchain.js";

/** Two servers without replicas, as every machine can have them. Servers with replicas: system-on-cluster. */
let dir: string;
let servers: ShardServers;
let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;
let artifact: KnownArtifact;

const ORGANIZATION = "on-shards";
const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };
/** By the first import of a body, with what it is. */
const kept = new Map<string, Buffer>();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "shard-servers-"));
  servers = await startShardServers({ dir, count: 2, log: pino({ level: "silent" }) });
  const env = { CLICKHOUSE_URL: servers.url, CLICKHOUSE_SHARDS: servers.shards };
  [toolchain, recountBodies] = await Promise.all([startToolchain({ env }), openRecount()]);
  api = await makeExporter(toolchain, ORGANIZATION);
  artifact = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
});

afterAll(async () => {
  await toolchain?.close();
  await servers?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

/** Events whose ids every body has, so that each overrides those before it, on whatever shard they are. */
async function importBody(seed: number): Promise<void> {
  const packages = [{ id: artifact.id, libraryType: "docker" as const }];
  const mix = {
    seed,
    count: 1_000,
    clients: 200,
    overrideShare: 0.3,
    from: "2025-03-10",
    days: 10,
    packages,
  };
  const body = Buffer.concat([...generateBody(mix)]);
  const path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
  const { id } = await api.pollToDone(await api.importBody(path, body));
  kept.set(id, body);
}

const expected = () =>
  recountBodies(
    [...kept.values()].map((bytes) => ({ bytes, target: artifact.id })),
    [artifact],
  );

async function expectExports(): Promise<void> {
  const { aggregates } = expected();
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
}

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
  const { status } = await api.request(`/v2/imports/${ORGANIZATION}/${id}`, { method: "DELETE" });
  expect(status).toBe(204);
  kept.delete(id);
  await expectExports();
});

test("without one of the shards an export fails, and never has smaller numbers", async () => {
  await servers.servers[1]?.[Symbol.asyncDispose]();
  const path = `/v1/organizations/${ORGANIZATION}/aggregates?startDate=${RANGE.startDate}&endDate=${RANGE.endDate}`;
  const answer = await api.request(path);
  expect(answer.status).toBeGreaterThanOrEqual(500);
});
