import type { ClusterServers } from "../clickhouse-source.js";

const ANSWER_MS_MAX = 5_000;

/**
 * The tables with the rows of all shards are made last. A server without them takes rows that its views do
 * not see, and answers smaller numbers.
 */
export async function isPrepared(
  url: string,
  { wholeDatabase }: Pick<ClusterServers, "wholeDatabase">,
): Promise<boolean> {
  const { origin, username, password } = new URL(url);
  const asked = new URL(origin);
  asked.searchParams.set("param_database", wholeDatabase);
  try {
    const answer = await fetch(asked, {
      method: "POST",
      headers: {
        "X-ClickHouse-User": decodeURIComponent(username) || "default",
        "X-ClickHouse-Key": decodeURIComponent(password),
      },
      body: "SELECT count() FROM system.tables WHERE database = {database:String} AND name = 'events'",
      // A redirect would take the password along.
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return answer.ok && (await answer.text()).trim() === "1";
  } catch {
    return false;
  }
}
