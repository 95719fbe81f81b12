import { v7 as uuidv7 } from "uuid";
import { pause } from "../../schemas/async/pause.js";
import { versionsOf } from "../../schemas/records/event-id.js";
import type { InsertLock } from "../../schemas/records/settlement.js";
import type { ClickHouse, Shard } from "../../schemas/shards.js";
import { type DailyTable, dailyTables, insertMissing, selectMissing } from "../clickhouse/read-migrations.js";
import { hasRow } from "../queries/has-row.js";
import { readQuery } from "../read-query.js";
import { isRewriting } from "../retention/delete-rows.js";

/** SQL that selects the artifact, date, event_id, version and import_id of versions of events, and its parameters. */
export interface SelectedVersions {
  select: string;
  params: Record<string, unknown>;
}

/**
 * Makes event_ids, for these versions, and the daily tables, for their packages and days, agree with `events`: an insert
 * that was cut short leaves its views apart. Inserts the difference, so a second run inserts nothing. Nobody inserts events
 * meanwhile, and no day counts as recounted while its rows are being deleted.
 */
export async function recount(
  shard: Shard,
  versions: SelectedVersions,
  { whileRecounting }: Pick<InsertLock, "whileRecounting">,
): Promise<void> {
  const tables = await dailyTables();
  const server = await shard.withAnswered(["events", "event_ids", ...tables.map(({ table }) => table)]);
  const whenUntouched = async (work: (from: string) => Promise<void>) => {
    const run = () =>
      whileRecounting(async (from = FIRST_DAY) => {
        if (await isTouched(server)) return false;
        await work(from);
        return true;
      });
    while (!(await run())) await pause(PAUSE_MS);
  };
  await whenUntouched((from) => recountVersions(server, versions, from));
  for (const days of groupsOf(await daysOf(server, versions)))
    await whenUntouched(async (from) => {
      const params = paramsOf(days, from);
      for (const table of tables)
        await insert(server, { query: insertMissing(ofDays(table), storedDays(table.keys)), params });
    });
}

/** Whether a recount of these versions may have something to insert. Others may be inserting meanwhile. */
export async function differs(shard: Shard, versions: SelectedVersions, from = FIRST_DAY): Promise<boolean> {
  const tables = await dailyTables();
  const server = await shard.withAnswered(["events", "event_ids", ...tables.map(({ table }) => table)]);
  const hasMissing = (query: string, params: Record<string, unknown>) =>
    hasRow(server, { query: `SELECT 1 FROM (${query}) LIMIT 1`, params });
  const { select, params } = versions;
  if (await hasMissing(await missingVersions(select), { ...params, from })) return true;
  for (const days of groupsOf(await daysOf(server, versions)))
    for (const table of tables)
      if (await hasMissing(selectMissing(ofDays(table), storedDays(table.keys)), paramsOf(days, from)))
        return true;
  return false;
}

/** The versions that these chunks wrote, on the shard that has them, and those that were erased since. */
export function versionsOfChunks(stamps: readonly number[]): SelectedVersions {
  const ofChunks = (table: string) => `SELECT artifact, date, event_id, version, import_id FROM ${table}
      WHERE version >= {fromVersion:UInt64} AND version < {toVersion:UInt64}
        AND intDiv(version, {linesInChunk:UInt64}) IN {stamps:Array(UInt64)}`;
  return {
    select: `${ofChunks("events")} UNION ALL ${ofChunks("erased_versions")}`,
    params: versionsOf(stamps),
  };
}

const FIRST_DAY = "1970-01-01";
const PAUSE_MS = 1_000;
/** All inserts wait for one group: some seconds. ClickHouse takes 128 KiB of parameters. */
const GROUP = { rowsMax: 2_000_000, daysMax: 1_000 };

/** A statement goes on when its process has died. */
async function isTouched(server: ClickHouse): Promise<boolean> {
  return (await isRewriting(server, "events")) || (await isRunning(server, QUERY_ID));
}

const QUERY_ID = "recount-";

/** Whether the server runs a statement whose query id begins so. */
export function isRunning(server: ClickHouse, queryId: string): Promise<boolean> {
  return hasRow(server, {
    query: `SELECT 1 FROM system.processes
      WHERE current_database = currentDatabase() AND startsWith(query_id, {queryId:String}) LIMIT 1`,
    params: { queryId },
  });
}

async function recountVersions(
  server: ClickHouse,
  { select, params }: SelectedVersions,
  from: string,
): Promise<void> {
  const query = `INSERT INTO event_ids (artifact, event_id, version, import_id, date, live, rows)
${await missingVersions(select)}`;
  await insert(server, { query, params: { ...params, from } });
}

async function missingVersions(select: string): Promise<string> {
  return (await readQuery("settlement/recount-versions")).replace(/^\{versions\}$/m, () => select);
}

interface StoredDay {
  artifact: string;
  date: string;
  rows: string;
}

/** Also days of which no row is left: their sums must be zero. */
async function daysOf(server: ClickHouse, { select, params }: SelectedVersions): Promise<StoredDay[]> {
  const answer = await server.query({
    query: `SELECT artifact, date, sum(counted) AS rows
      FROM
      (
        SELECT DISTINCT artifact, date, toUInt64(0) AS counted FROM (${select})
        UNION ALL
        SELECT artifact, date, count() AS counted FROM events
        WHERE (artifact, date) IN (SELECT artifact, date FROM (${select}))
        GROUP BY artifact, date
      )
      GROUP BY artifact, date ORDER BY artifact, date`,
    query_params: params,
    format: "JSONEachRow",
  });
  return answer.json<StoredDay>();
}

function groupsOf(days: readonly StoredDay[]): StoredDay[][] {
  const groups: StoredDay[][] = [];
  let rows = Infinity;
  for (const day of days) {
    rows += Number(day.rows);
    const last = groups.at(-1);
    if (last !== undefined && rows <= GROUP.rowsMax && last.length < GROUP.daysMax) last.push(day);
    else {
      groups.push([day]);
      rows = Number(day.rows);
    }
  }
  return groups;
}

const DAYS = "(SELECT arrayJoin(arrayZip({artifacts:Array(UUID)}, {dates:Array(Date)})))";

function ofDays(table: DailyTable): DailyTable {
  const ofThese = `FROM (SELECT * FROM events WHERE (artifact, date) IN ${DAYS}) AS events`;
  return { ...table, select: table.select.replace("FROM events", ofThese) };
}

function storedDays(keys: string): string {
  const [artifact] = keys.split(",");
  return `WHERE (${artifact}, date) IN ${DAYS}`;
}

/** Days before `from` were removed, and their sums stay. */
function paramsOf(days: readonly StoredDay[], from: string) {
  const kept = days.filter(({ date }) => date >= from);
  return { artifacts: kept.map(({ artifact }) => artifact), dates: kept.map(({ date }) => date) };
}

/** The token is unique: that of an equal difference at another time would drop this one. */
async function insert(
  server: ClickHouse,
  { query, params }: { query: string; params: Record<string, unknown> },
): Promise<void> {
  await server.command({
    query,
    query_params: params,
    query_id: `${QUERY_ID}${uuidv7()}`,
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1, insert_deduplication_token: uuidv7() },
  });
}
