import type { Pool } from "pg";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { asOnlyMigration } from "../../../api/postgres/migrate-postgres.js";
import { clusterServers, type ClickHouseSource } from "./clickhouse-source.js";
import { prepareCluster } from "./cluster/prepare-cluster.js";
import { connectClickHouse, databaseOf } from "./connect-clickhouse.js";

export interface Preparation {
  /**
   * The PostgreSQL of the same installation. A lock in it lets only one process migrate at a time, on any machine.
   * `alone` when no other process knows the URL.
   */
  lock: Pool | "alone";
}

/** Creates the database that the URL names when it is missing, and migrates its tables. */
export async function prepareClickHouse(url: string, { lock }: Preparation): Promise<void> {
  await prepareServers({ url }, { lock });
}

/**
 * The same for every server. Answers the servers of a cluster that could not be reached, and lack what is new until this is
 * called again.
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
