import { pause } from "../../../schemas/async/pause.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

const CALM_MS_MAX = 60_000;
const POLL_MS = 250;
const CALM_POLLS = 4;

/** Waits until ClickHouse has no running merges, at most a minute, so that one measurement does not slow the next. */
export async function awaitMerges(clickhouseUrl: string): Promise<void> {
  const server = connectClickHouse(clickhouseUrl, { database: "default" });
  try {
    const deadline = performance.now() + CALM_MS_MAX;
    for (let calm = 0; calm < CALM_POLLS && performance.now() < deadline; await pause(POLL_MS)) {
      const answer = await server.query({
        query: "SELECT count() AS merges FROM system.merges",
        format: "JSONEachRow",
      });
      const [row] = await answer.json<{ merges: string | number }>();
      calm = Number(row?.merges) === 0 ? calm + 1 : 0;
    }
  } finally {
    await server.close();
  }
}
