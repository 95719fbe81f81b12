import { pause } from "../../../schemas/async/pause.js";
import { connectClickHouse, databaseOf } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import type { PersistentClickHouse } from "./persistent-clickhouse.js";

/** A keeper ends the session of a server that died this late at most. */
const SESSION_MS_MAX = 90_000;
const RETRY_MS = 500;

/**
 * Makes a server with an empty disk a replica again: another one of its shard forgets what the keeper knows of it, then the
 * program makes its tables, which fetch their rows.
 */
export async function remakeReplica(
  shard: readonly string[],
  lost: number,
  migrate: () => Promise<unknown>,
): Promise<void> {
  const server = shard[lost] ?? "";
  const name = await macroOf(server);
  const other = shard.find((url) => url !== server) ?? "";
  await using client = connectClickHouse(other);
  const query = `SYSTEM DROP REPLICA '${name}' FROM DATABASE \`${databaseOf(other)}\``;
  await untilDone(async () => void (await client.command({ query })));
  await untilDone(async () => void (await migrate()));
}

async function macroOf(url: string): Promise<string> {
  await using client = connectClickHouse(url, { database: "default" });
  const answer = await client.query({ query: "SELECT getMacro('replica') AS name", format: "JSONEachRow" });
  const [row] = await answer.json<{ name: string }>();
  return row?.name ?? "";
}

async function untilDone(work: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + SESSION_MS_MAX; ; await pause(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Waits until the server has all rows that others of its shard have. */
export async function whenReplicasAgree(server: PersistentClickHouse): Promise<void> {
  const tables = await server.rows<{ name: string }>(
    "SELECT table AS name FROM system.replicas WHERE database = currentDatabase()",
  );
  for (const { name } of tables) await server.client.command({ query: `SYSTEM SYNC REPLICA \`${name}\`` });
}
