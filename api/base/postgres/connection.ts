import type { Pool, PoolClient } from "pg";
import { Problem } from "../../../schemas/problem.js";
import { type Postgres, query, tookTooLong } from "./query.js";

/** Closed if `work` throws. The listener: a connection that breaks between queries would end the process. */
export async function onConnection<T>(pg: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pg);
  const ignore = () => undefined;
  client.on("error", ignore);
  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } finally {
    client.off("error", ignore);
    client.release(failed);
  }
}

export async function inTransaction<T>(pg: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const outcome = await onConnection(pg, async (client) => {
    await query(client, "begin");
    try {
      const result = await work(client);
      await query(client, "commit");
      return { result };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await query(client, "rollback");
      return { refusal: error };
    }
  });
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome.result;
}

/** As `inTransaction`, on a given connection, such as one that holds a lock. */
export async function transactionOn<T>(client: Postgres, work: () => Promise<T>): Promise<T> {
  await query(client, "begin");
  try {
    const result = await work();
    await query(client, "commit");
    return result;
  } catch (error) {
    // On a broken connection this fails too; the server then rolls back by itself.
    await query(client, "rollback").catch(() => undefined);
    throw error;
  }
}

/** A Problem says nothing against the connection, which costs more to open than a transaction. */
function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && (error.status !== 503 || tookTooLong(error.cause));
}

async function connect(pg: Pool): Promise<PoolClient> {
  try {
    return await pg.connect();
  } catch (cause) {
    throw new Problem("unavailable", "The database is temporarily unavailable. Try again later.", {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
