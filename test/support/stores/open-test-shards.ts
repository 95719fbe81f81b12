import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { ResultSource } from "../../../aggregate/queries/open-rows.js";
import { startShardServers } from "../../bench/cluster/shard-servers.js";
import { type ListedShard, parseShards } from "../../../deploy/config/config.js";
import type { ClickHouseSource } from "../../../deploy/stores/clickhouse/clickhouse-source.js";
import { connectAllResults, connectShards } from "../../../deploy/stores/clickhouse/connect-shards.js";
import { prepareServers } from "../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import type { Shards } from "../../../schemas/shards.js";
import { findGivenServers } from "../shards/given-servers.js";
import { openServersDatabase } from "../shards/servers-database.js";
import { interpretStatements } from "./prepared-stores.js";

/** Several shards with this program's tables. */
export interface TestShards extends AsyncDisposable {
  source: ClickHouseSource;
  shards: Shards;
  results: ResultSource;
  /** Ends a shard for good; undefined where the servers were given. */
  end: ((index: number) => Promise<void>) | undefined;
}

/**
 * Two shards of one embedded server each, which keep no replicas, or the servers of TEST_CLICKHOUSE_SHARDS, which do.
 */
export async function openTestShards(): Promise<TestShards> {
  const given = findGivenServers();
  const servers =
    "missing" in given ? await startServers() : { ...openServersDatabase(given), end: undefined };
  const { source } = servers;
  await prepareServers(source, { lock: "alone" });
  const shards = connectShards(source);
  const results = connectAllResults(source);
  return {
    source,
    shards,
    results,
    end: servers.end,
    async [Symbol.asyncDispose]() {
      await Promise.all([shards[Symbol.asyncDispose](), results[Symbol.asyncDispose]()]);
      await servers[Symbol.asyncDispose]();
    },
  };
}

async function startServers() {
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-shards-"));
  for (const shard of ["a", "b"]) await interpretStatements(join(dir, shard));
  const started = await startShardServers({ dir, count: 2, log: pino({ level: "silent" }) });
  const shards = parseShards(started.shards) as ListedShard[];
  const source: ClickHouseSource = { url: started.url, cluster: { name: "maintainer", shards } };
  return {
    source,
    end: async (index: number) => started.servers[index]?.[Symbol.asyncDispose](),
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
