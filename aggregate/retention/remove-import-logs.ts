import type { ClickHouse, Shards } from "../../schemas/shards.js";
import { deleteRows } from "./delete-rows.js";
import { addRemoved, type Removed } from "./removed.js";

export interface ImportLogDays {
  /** How long entries are kept. */
  importLogsDays: number;
  /** How long the texts of refused lines are kept; the entries about them stay as long as the others. */
  rejectedLinesDays: number;
}

/** Removes old entries of import logs, and the texts of refused lines that are old enough. Answers each. */
export async function removeImportLogs({ shards }: Shards, days: ImportLogDays): Promise<RemovedLogs> {
  const parts: RemovedLogs[] = [];
  for (const { tables } of shards) parts.push(await removeFrom(tables, days));
  return {
    importLogs: addRemoved(parts.map(({ importLogs }) => importLogs)),
    rejectedLines: addRemoved(parts.map(({ rejectedLines }) => rejectedLines)),
  };
}

interface RemovedLogs {
  importLogs: Removed;
  rejectedLines: Removed;
}

async function removeFrom(
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
