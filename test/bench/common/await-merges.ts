import { pause } from "../../../schemas/async/pause.js";
import { readRows } from "./read-rows.js";

const CALM_MS_MAX = 60_000;
const POLL_MS = 250;
const CALM_POLLS = 4;

/** Waits until ClickHouse has no running merges, at most a minute, so that one measurement does not slow the next. */
export async function awaitMerges(clickhouseUrl: string): Promise<void> {
  const deadline = performance.now() + CALM_MS_MAX;
  const query = "SELECT count() AS merges FROM system.merges";
  for (let calm = 0; calm < CALM_POLLS && performance.now() < deadline; await pause(POLL_MS)) {
    const [row] = await readRows<{ merges: string }>(clickhouseUrl, query, { database: "default" });
    calm = Number(row?.merges) === 0 ? calm + 1 : 0;
  }
}
