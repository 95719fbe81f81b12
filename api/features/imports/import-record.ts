import { LOG_SAMPLE_MAX, type LogEntry } from "../../../schemas/records/import-log.js";
import { type EventImport, REMOVED } from "../../../schemas/records/import-store.js";
import { type Postgres, query, utc } from "../../base/postgres/query.js";

export interface ImportRow {
  id: string;
  owner: string;
  status: EventImport["status"];
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  started_by: string;
  started_with_token: string | null;
  file_name: string | null;
  artifact_kind: "package" | "pixel" | "any";
  artifact_id: string | null;
  artifact_name: string | null;
  bytes: string;
  bytes_unpacked: string;
  lines_received: string;
  events_total: string;
  events_imported: string;
  events_failed: string;
  events_warned: string;
  lines_skipped: string;
  /** Whether it was aborted and retracted: then nothing of it is imported. */
  undone: boolean;
  entries: LogEntry[];
  errors: LogEntry[];
  warnings: LogEntry[];
}

/**
 * SQL: whether something of an import may not be in the aggregates yet. In schema.sql the index `imports_owing` and the
 * trigger `imports_are_settled` have the same condition.
 */
export const IS_UNSETTLED = "(status = 'importing' or chunks_settled < chunks_written)";

/** SQL: whether events of the import `i`, of which somebody asked the retraction, may still be in the aggregates. */
export const IS_RETRACTING = `(i.retracted and i.status <> 'importing' and i.chunks_settled < i.chunks_written
    and i.entries @> '[{"type": "retracted"}]')`;

export const STATUS = `(case when ${IS_RETRACTING} then 'retracting' else i.status end)`;

/**
 * SQL: the rows of `from`, which has the columns of `imports`, as `ImportRow`. Each chunk stores the first entries of each
 * class, so that the first chunks with entries contain the import's first.
 */
export function selectImport(from = "imports"): string {
  return `
  select i.id, o.name as owner, ${STATUS} as status, ${utc("i.created_at")} as created_at,
    ${utc("i.updated_at")} as updated_at, ${utc("i.finished_at")} as finished_at, i.artifact_kind, i.artifact_id,
    coalesce(p.name, x.name) as artifact_name, coalesce(starter.name, '${REMOVED}') as started_by, i.token_name as started_with_token, i.file_name, i.bytes, i.bytes_unpacked,
    greatest(i.lines_received, i.events_total + i.lines_skipped) as lines_received, i.events_total, i.events_imported, i.events_failed, i.events_warned,
    i.lines_skipped, i.status = 'aborted' and i.retracted as undone, i.entries,
    coalesce(${firstEntries("errors")}, '[]') as errors, coalesce(${firstEntries("warnings")}, '[]') as warnings
  from ${from} i join owners o on o.id = i.owner_id left join owners starter on starter.id = i.account_id
  left join packages p on p.id = i.artifact_id left join pixels x on x.id = i.artifact_id`;
}

function firstEntries(column: "errors" | "warnings"): string {
  return `(
    select jsonb_agg(entry order by sequence, position)
    from (
      select sequence, ${column} from import_chunks
      where import_id = i.id and ${column} is not null order by sequence limit ${LOG_SAMPLE_MAX}
    ) chunks, jsonb_array_elements(chunks.${column}) with ordinality as entries (entry, position)
  )`;
}

export function importRecord(row: ImportRow): EventImport {
  const whole = row.entries.filter((entry) => entry.class === "error");
  return {
    id: row.id,
    owner: row.owner,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
    events_total: Number(row.events_total),
    events_successfully_imported: row.undone ? 0 : Number(row.events_imported),
    events_failed_to_import: Number(row.events_failed),
    events_with_warnings: row.undone ? 0 : Number(row.events_warned),
    error_log_sample: [...whole, ...row.errors].slice(0, LOG_SAMPLE_MAX).map(inWireOrder),
    warning_log_sample: row.warnings.slice(0, LOG_SAMPLE_MAX).map(inWireOrder),
    package: targetOf(row, "package"),
    pixel: targetOf(row, "pixel"),
    started_by: row.started_by,
    started_with_token: row.started_with_token,
    bytes: Number(row.bytes),
    bytes_unpacked: Number(row.bytes_unpacked),
    lines_received: Number(row.lines_received),
    lines_skipped: Number(row.lines_skipped),
    finished_at: row.finished_at,
    ...(row.file_name !== null && { name: row.file_name }),
  };
}

function targetOf({ artifact_kind, artifact_id, artifact_name }: ImportRow, kind: "package" | "pixel") {
  return artifact_kind === kind && artifact_id !== null ? { id: artifact_id, name: artifact_name } : null;
}

/** Oldest first, such as `upload-interrupted`. Entries about lines are in ClickHouse. */
export async function readImportEntries(pg: Postgres, importId: string): Promise<LogEntry[]> {
  const text = "select entries from imports where id = $1";
  const [row] = await query<{ entries: LogEntry[] }>(pg, text, [importId]);
  return (row?.entries ?? []).map(inWireOrder);
}

/** `jsonb` does not preserve the order of keys. */
function inWireOrder(entry: LogEntry): LogEntry {
  const { class: entryClass, type, human_friendly_message, line, ...artifact } = entry;
  return { class: entryClass, type, human_friendly_message, line, ...artifact };
}

export interface UnsettledWork {
  /** Imports (UUIDs), oldest first, whose lines are being received, wait in the event log, or are not settled. */
  imports: string[];
  /** Batches of settlement, of imports or of erasures, that may be applied in part. */
  batches: number;
}

export async function readUnsettledWork(pg: Postgres): Promise<UnsettledWork> {
  const imports = `select id from imports where ${IS_UNSETTLED} order by id`;
  // Those of an owner that was deleted are left.
  const batches = "select count(*)::float8 as open from settlements join owners on owners.id = owner_id";
  const [counted] = await query<{ open: number }>(pg, batches);
  const rows = await query<{ id: string }>(pg, imports);
  return { imports: rows.map(({ id }) => id), batches: counted?.open ?? 0 };
}
