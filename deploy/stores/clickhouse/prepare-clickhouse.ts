import type { Pool } from "pg";
import type { Logger } from "pino";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { asOnlyMigration } from "../../../api/base/postgres/migrate-postgres.js";
import { pause } from "../../../schemas/async/pause.js";
import { clusterServers, type ClickHouseSource } from "./clickhouse-source.js";
import { prepareCluster } from "./cluster/prepare-cluster.js";
import { connectClickHouse, databaseOf } from "./connect-clickhouse.js";

export interface Preparation {
  /**
   * A lock in the PostgreSQL of the installation lets one process migrate. `alone` when no other knows the
   * URL.
   */
  lock: Pool | "alone";
}

/** Creates the database that the URL names when it is missing, and migrates its tables. */
export async function prepareClickHouse(url: string, { lock }: Preparation): Promise<void> {
  await prepareServers({ url }, { lock });
}

/**
 * Answers the servers of a cluster that could not be reached, and lack what is new until this is called
 * again.
 */
export async function prepareServers(
  { url, cluster }: ClickHouseSource,
  { lock }: Preparation,
): Promise<readonly string[]> {
  let unavailable: readonly string[] = [];
  const work = async (checkLock?: () => Promise<void>) => {
    if (cluster === undefined) await migrate(url, checkLock);
    else unavailable = await prepareCluster(clusterServers(url, cluster), checkLock);
  };
  if (lock === "alone") await work();
  else await asOnlyMigration(lock, ({ check }) => work(check));
  return unavailable;
}

async function migrate(url: string, checkLock?: () => Promise<void>): Promise<void> {
  // A client names its database in every request, which fails before the database exists.
  const server = connectClickHouse(url, { database: "default" });
  const client = connectClickHouse(url);
  try {
    await createDatabase(server, databaseOf(url));
    await migrateClickHouse([client], { checkLock });
  } finally {
    await Promise.all([server.close(), client.close()]);
  }
}

/** How often servers that were unavailable at the start are looked for. */
const ROUND_MS = 15_000;

/** The program starts without the unavailable servers of a cluster: they are prepared once they are back. */
export async function keepPrepared(
  source: ClickHouseSource,
  { lock, log }: { lock: Pool; log: Logger },
): Promise<AsyncDisposable> {
  const stop = new AbortController();
  const unavailable = await prepareServers(source, { lock });
  const finished = prepareRest(unavailable);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };

  async function prepareRest(servers: readonly string[]): Promise<void> {
    for (let left = servers; left.length > 0 && !stop.signal.aborted;) {
      log.warn(
        { servers: left },
        "some ClickHouse servers do not respond, or are still fetching data from their shard; reads use " +
          "the other servers until they are ready",
      );
      await pause(ROUND_MS, { signal: stop.signal });
      if (!stop.signal.aborted) left = await prepareServers(source, { lock }).catch(() => left);
    }
  }
}
