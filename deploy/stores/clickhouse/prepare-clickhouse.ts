import type { Pool } from "pg";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { asOnlyMigration } from "../../../api/stores/migrate-postgres.js";
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
  if (lock === "alone") return migrate(url);
  await asOnlyMigration(lock, ({ check }) => migrate(url, check));
}

async function migrate(url: string, checkLock?: () => Promise<void>): Promise<void> {
  // A client names its database in every request, which fails before the database exists.
  const server = connectClickHouse(url, { database: "default" });
  const client = connectClickHouse(url);
  try {
    await createDatabase(server, databaseOf(url));
    await migrateClickHouse(client, { checkLock });
  } finally {
    await Promise.all([server.close(), client.close()]);
  }
}
