import type { ClickHouse } from "../../../schemas/shards.js";
import { pause } from "../../../schemas/async/pause.js";
import { PLATFORMS } from "../../../schemas/contracts/platforms.js";
import type { MigrationStep } from "../run-statement.js";

/**
 * Gives platforms in `events` and `platforms` the names of `PLATFORMS`. Texts that name none of these stay. First the
 * events: what is subtracted from `platforms` meanwhile, under an old name, is moved with the rest of that name.
 */
export const namePlatforms: MigrationStep = async ({ clickhouse, run }) => {
  const old = await numbersOf(clickhouse, `SELECT 1 AS number FROM events WHERE ${IS_OLD} LIMIT 1`);
  if (old.length > 0) await run(`ALTER TABLE events UPDATE platform = ${NAME} WHERE ${IS_OLD}`);
  await waitForUpdate(clickhouse);
  const months = `SELECT DISTINCT toYYYYMM(date) AS number FROM (${sumsOf(IS_OLD)}) ORDER BY number`;
  for (const month of await numbersOf(clickhouse, months)) await run(moveSums(month));
};

const list = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");

/** The name of a platform, as `namePlatform` of enrichment finds it. Words are runs of ASCII letters. */
const NAME = `multiIf(${PLATFORMS.map(
  ({ name, words }) => `hasAny(extractAll(lower(platform), '[a-z]+'), [${list(words)}]), '${name}'`,
).join(", ")}, platform)`;

const IS_OLD = `platform NOT IN ('', ${list(PLATFORMS.map(({ name }) => name))}) AND platform != ${NAME}`;

function sumsOf(condition: string): string {
  return `SELECT package, date, platform, any(${NAME}) AS name, sum(total) AS moved
    FROM platforms WHERE ${condition} GROUP BY package, date, platform HAVING moved != 0`;
}

/**
 * Subtracts the sums of old names and adds them to the new ones, as one block and so wholly or not at all. Subtracted
 * sums are 0: a second run finds nothing. Deduplication drops the block of a run that was cut short here while
 * ClickHouse went on with it.
 */
function moveSums(month: number): string {
  return `INSERT INTO platforms (package, date, platform, total)
    SELECT package, date, pair.1, pair.2
    FROM (${sumsOf(`toYYYYMM(date) = ${month} AND ${IS_OLD}`)})
    ARRAY JOIN [(toString(platform), -moved), (toString(name), moved)] AS pair
    ORDER BY ALL
    SETTINGS async_insert = 0, insert_deduplicate = 1, deduplicate_insert_select = 'force_enable', max_insert_threads = 1,
      max_block_size = 100000000, min_insert_block_size_rows = 100000000, min_insert_block_size_bytes = 0`;
}

const ROUND_MS = 200;

/** ClickHouse updates part by part in the background, and goes on with it after a restart. */
async function waitForUpdate(clickhouse: ClickHouse): Promise<void> {
  for (;;) {
    const answer = await clickhouse.query({ query: UPDATES, format: "JSONEachRow" });
    const updates = await answer.json<{ reason: string }>();
    const failed = updates.find(({ reason }) => reason !== "");
    if (failed !== undefined) throw new Error(`ClickHouse cannot update events: ${failed.reason}`);
    if (updates.length === 0) return;
    await pause(ROUND_MS);
  }
}

const UPDATES = `
  SELECT latest_fail_reason AS reason FROM system.mutations
  WHERE database = currentDatabase() AND table = 'events' AND command LIKE '%UPDATE platform%' AND NOT is_done`;

async function numbersOf(clickhouse: ClickHouse, query: string): Promise<number[]> {
  const answer = await clickhouse.query({ query, format: "JSONEachRow" });
  return (await answer.json<{ number: number }>()).map(({ number }) => number);
}
