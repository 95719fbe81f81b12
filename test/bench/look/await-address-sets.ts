import { readStaleDays } from "../../../aggregate/address-sets/make-sets.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { pause } from "../../../schemas/async/pause.js";
import { secondsSince } from "../common/seconds-since.js";

/** The job looks once a minute, and makes a set only of a day that is as it was a look before. */
const UNCHANGED_SECONDS_MAX = 240;
const POLL_MS = 2_000;

/**
 * Waits until the job of the program has made the sets of addresses of all days; answers how many it did not make, of which
 * nothing changed for minutes. Statistics of days without a set read rows, so they would be measured halfway.
 */
export async function awaitAddressSets(clickhouseUrl: string): Promise<number> {
  await using server = connectClickHouse(clickhouseUrl);
  let stale = (await readStaleDays(server)).length;
  let changedAt = performance.now();
  while (stale > 0 && secondsSince(changedAt) < UNCHANGED_SECONDS_MAX) {
    await pause(POLL_MS);
    const now = (await readStaleDays(server)).length;
    if (now !== stale) changedAt = performance.now();
    stale = now;
  }
  return stale;
}
