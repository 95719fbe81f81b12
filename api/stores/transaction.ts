import type { Pool, PoolClient } from "pg";
import { Problem } from "../../schemas/problem.js";

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export async function inTransaction<T>(pg: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pg);
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    await client.query("rollback").then(
      () => client.release(),
      (failure: Error) => client.release(failure),
    );
    throw error;
  }
}

async function connect(pg: Pool): Promise<PoolClient> {
  try {
    return await pg.connect();
  } catch (cause) {
    throw new Problem("unavailable", "The database cannot be reached at the moment.", {
      retryAfterSeconds: 5,
      cause,
    });
  }
}
