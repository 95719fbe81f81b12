import pg from "pg";

/** Runs `work` on a connection of its own, which ends with it, whatever becomes of the server meanwhile. */
export async function onPostgres<T>(
  url: string | undefined,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(url);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
