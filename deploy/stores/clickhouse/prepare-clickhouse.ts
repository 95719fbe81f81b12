import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { connectClickHouse, databaseOf } from "./connect-clickhouse.js";

/** Makes the database that the URL names, if it is not there, and brings it to this program's tables. */
export async function prepareClickHouse(url: string): Promise<void> {
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
