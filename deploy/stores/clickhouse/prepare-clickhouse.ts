import type { Pool } from "pg";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { asOnlyMigration } from "../../../api/stores/migrate-postgres.js";
import { connectClickHouse, databaseOf } from "./connect-clickhouse.js";

export interface Preparation {
  /**
   * The PostgreSQL of the same installation: a lock in it has one process migrate at a time, wherever they run.
   * `alone` where no other process can have the URL.
   */
  lock: Pool | "alone";
}

/** Makes the database that the URL names, if it is not there, and brings it to this program's tables. */
export async function prepareClickHouse(url: string, { lock }: Preparation): Promise<void> {
  if (lock === "alone") return migrate(url);
  await asOnlyMigration(lock, () => migrate(url));
}

async function migrate(url: string): Promise<void> {
  // A client names its database in every request, so it cannot be the one that makes it.
  const server = connectClickHouse(url, { database: "default" });
  const client = connectClickHouse(url);
  try {
    await createDatabase(server, databaseOf(url));
    await migrateClickHouse(client);
  } finally {
    await Promise.all([server.close(), client.close()]);
  }
}
