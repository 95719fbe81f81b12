import { DAY_MS } from "../../schemas/date-range.js";
import { leastVersion } from "../../schemas/records/event-id.js";
import type { ClickHouse, Shards } from "../../schemas/shards.js";
import { hasRow } from "../queries/has-row.js";
import { readQuery } from "../read-query.js";
import { deleteRows, addRemoved, NOTHING_REMOVED, type Removed } from "./delete-rows.js";

/** A month is gone at once, whatever it holds. The bound keeps the first run after a change of the settings short. */
const MONTHS_MAX = 120;

export interface EventsToRemove {
  /** The first day of a month, `YYYY-MM-DD`: events before it go. */
  before: string;
  /** UUIDs of settlement batches that are staged and may not be applied yet. */
  openBatches: readonly string[];
}

/**
 * Removes whole months, and what settlement noted of them; the breakdowns stay. Answers undefined, and
 * removes nothing, while a settlement is about to change these months.
 */
export async function removeEvents(
  { all, shards }: Shards,
  { before, openBatches }: EventsToRemove,
): Promise<Removed | undefined> {
  if (!(await areSettled(all, { before, openBatches }))) return undefined;
  const removed: Removed[] = [];
  for (const { tables } of shards) removed.push(await removeEventsFrom(tables, before));
  return addRemoved(removed);
}

async function removeEventsFrom(clickhouse: ClickHouse, before: string): Promise<Removed> {
  const ofDaysBefore = { where: "date < {before:Date}", params: { before } };
  const months = await dropMonths(clickhouse, before);
  // Days before 2025 lie in decades, which may have kept days too.
  const days = months.isAll
    ? await deleteRows(clickhouse, { table: "events", ...ofDaysBefore })
    : NOTHING_REMOVED;
  await deleteRows(clickhouse, { table: "event_ids", ...ofDaysBefore });
  // Events of lines that came this long ago are all of removed days: their time is at most a day after the receipt.
  await deleteRows(clickhouse, {
    table: "import_events",
    where: "version < {version:UInt64}",
    params: { version: leastVersion(Math.max(0, Date.parse(before) - DAY_MS)) },
  });
  return addRemoved([months, days]);
}

async function areSettled(clickhouse: ClickHouse, { before, openBatches }: EventsToRemove): Promise<boolean> {
  if (openBatches.length === 0) return true;
  const query =
    "SELECT 1 FROM settlement_deltas WHERE batch IN {openBatches:Array(UUID)} AND date < {before:Date} LIMIT 1";
  return !(await hasRow(clickhouse, { query, params: { openBatches, before } }));
}

interface StoredMonth {
  id: string;
  row_count: string;
  byte_count: string;
}

async function dropMonths(clickhouse: ClickHouse, before: string): Promise<Removed & { isAll: boolean }> {
  const answer = await clickhouse.query({
    query: await readQuery("retention/stored-months"),
    query_params: { before, most: MONTHS_MAX },
    format: "JSONEachRow",
  });
  const months = await answer.json<StoredMonth>();
  const removed = { rows: 0, bytes: 0, isAll: months.length < MONTHS_MAX };
  for (const { id, row_count: rows, byte_count: bytes } of months) {
    await clickhouse.command({
      query: "ALTER TABLE events DROP PARTITION ID {id:String}",
      query_params: { id },
    });
    removed.rows += Number(rows);
    removed.bytes += Number(bytes);
  }
  return removed;
}

export interface ImportLogDays {
  importLogsDays: number;
  /** How long the texts of refused lines are kept; the entries about them stay as long as the others. */
  rejectedLinesDays: number;
}

export async function removeImportLogs({ shards }: Shards, days: ImportLogDays): Promise<RemovedLogs> {
  const parts: RemovedLogs[] = [];
  for (const { tables } of shards) parts.push(await removeLogsFrom(tables, days));
  return {
    importLogs: addRemoved(parts.map(({ importLogs }) => importLogs)),
    rejectedLines: addRemoved(parts.map(({ rejectedLines }) => rejectedLines)),
  };
}

interface RemovedLogs {
  importLogs: Removed;
  rejectedLines: Removed;
}

async function removeLogsFrom(
  clickhouse: ClickHouse,
  { importLogsDays, rejectedLinesDays }: ImportLogDays,
): Promise<RemovedLogs> {
  const importLogs = await deleteRows(clickhouse, {
    table: "import_log",
    where: OLDER,
    params: { days: importLogsDays },
    bytes: "length(message) + length(line_bytes)",
  });
  const rejectedLines = await deleteRows(clickhouse, {
    table: "import_log",
    update: "line_bytes = ''",
    where: `${OLDER} AND class = 'error' AND line_bytes != ''`,
    params: { days: rejectedLinesDays },
    bytes: "length(line_bytes)",
  });
  return { importLogs, rejectedLines };
}

const OLDER = "logged < now() - toIntervalDay({days:UInt32})";
