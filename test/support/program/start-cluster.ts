import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { DATABASE } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { startClickHouse } from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../../../deploy/stores/embedded/postgres/postgres.js";
import { copyDatabases } from "../stores/prepared-stores.js";
import { startToolchain, type Toolchain } from "./start-toolchain.js";
import type { ProcessEnvironment } from "./toolchain-process.js";

/**
 * A database server and a ClickHouse server that run by themselves, on addresses that they keep when they are killed
 * and come back, and any number of processes of the built program that share them and a Kafka broker.
 */
export interface Cluster extends AsyncDisposable {
  readonly postgresUrl: string;
  readonly clickhouseUrl: string;
  /** The working directory of each server is below it. */
  readonly storesDir: string;
  /** Those that were added and not removed, whether they run or not. */
  readonly members: readonly Toolchain[];
  /** Starts one more process with these roles, on a data directory of its own, and resolves when it is ready. */
  add(roles: string, env?: ProcessEnvironment): Promise<Toolchain>;
  /** Ends a process as SIGTERM does, checks that nothing of it is left, and forgets it. */
  remove(member: Toolchain): Promise<void>;
}

export interface ClusterOptions {
  brokers: readonly string[];
  /** The variables of ClickHouse servers that run already, in place of one of its own. */
  clickhouse?: ProcessEnvironment & { CLICKHOUSE_URL: string };
  /** Variables of every process, besides the shared ones; may name the servers' folder. */
  env?: ProcessEnvironment | ((storesDir: string) => ProcessEnvironment);
}

const log = pino({ level: "silent" });

/** Starts the servers; processes are added one by one, the first alone: it prepares the databases. */
export async function startCluster({
  brokers,
  clickhouse: given,
  env = {},
}: ClusterOptions): Promise<Cluster> {
  const storesDir = await mkdtemp(join(tmpdir(), "toolchain-cluster-"));
  await copyDatabases(storesDir);
  const members: Toolchain[] = [];
  const postgres = await startPostgres({ dir: join(storesDir, "postgres"), log, ...AS_OFTEN_AS_KILLED });
  const clickhouse =
    given === undefined
      ? await startClickHouse({ dir: join(storesDir, "clickhouse"), log, ...AS_OFTEN_AS_KILLED })
      : undefined;
  const clickhouseUrl = clickhouse === undefined ? (given?.CLICKHOUSE_URL ?? "") : urlOf(clickhouse);
  const shared = {
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: clickhouseUrl,
    ...given,
    SECRET_KEY: randomBytes(32).toString("base64"),
    KAFKA_BROKERS: brokers.join(","),
    ENRICH_WORKERS: "1",
    ...(typeof env === "function" ? env(storesDir) : env),
  };
  const remove = async (member: Toolchain) => {
    members.splice(members.indexOf(member), 1);
    await member.close();
  };
  return {
    postgresUrl: postgres.url,
    clickhouseUrl,
    storesDir,
    members,
    async add(roles, own = {}) {
      const member = await startToolchain({ env: { ...shared, ...own, ROLES: roles } });
      members.push(member);
      return member;
    },
    remove,
    async [Symbol.asyncDispose]() {
      try {
        await Promise.all([...members].map(remove));
      } finally {
        await Promise.all([clickhouse?.[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()]);
        await rm(storesDir, { recursive: true, force: true });
      }
    },
  };
}

/** A server that was killed is started again however soon that was after its start. */
const AS_OFTEN_AS_KILLED = { steadyMs: 0 };

function urlOf({ url, username, password }: { url: string; username: string; password: string }): string {
  const whole = new URL(url);
  Object.assign(whole, { username, password });
  whole.searchParams.set("database", DATABASE);
  return whole.href;
}
