import { json } from "node:stream/consumers";
import type { ClickHouseSettings } from "@clickhouse/client";
import { type DateRange, storableRange } from "../../../schemas/date-range.js";
import type { ExportFormat } from "../../../schemas/contracts/aggregate.js";
import type { UnsettledImports } from "../../../schemas/records/settlement.js";
import { READ_COLUMNS, SELECTED_COLUMNS } from "./event-columns.js";
import {
  FORMAT_NAMES,
  FORMAT_SETTINGS,
  hideErased,
  openRows,
  type ResultSource,
  type Rows,
  type RowsQuery,
} from "../open-rows.js";
import { namesSql, uuidsLiteral } from "../sql-literals.js";
import { readQuery } from "../../read-query.js";

export interface ExportedArtifact {
  id: string;
  /** The name of the package, or of the package that the pixel belongs to; empty where there is none. */
  packageName: string;
}

export interface EventsQuery extends DateRange {
  artifacts: readonly ExportedArtifact[];
  /** The unsettled imports of the artifacts' owners. Called after removed rows are counted, right before the read. */
  unsettled: () => Promise<UnsettledImports>;
  format: ExportFormat;
  signal: AbortSignal;
  /** Compressed by ClickHouse. */
  zstd?: boolean;
}

/** Each live event once, in no order; see `openRows` for how it fails, and `queries/events/events.sql` for what is live. */
export async function openEvents(
  clickhouse: ResultSource,
  { signal, zstd, unsettled: readUnsettled, ...asked }: EventsQuery,
): Promise<Rows> {
  const removed = await countRemoved(clickhouse, { ...asked, signal });
  const unsettled = await readUnsettled();
  const { settings, ...composed } = await composeEvents({ ...asked, unsettled }, removed);
  const hidden = await hideErased(clickhouse, unsettled.erasures, signal);
  return openRows(clickhouse, { ...composed, settings: { ...settings, ...hidden }, signal, zstd });
}

/** The rows by which settlement removed versions, and the versions that are live all the same. */
export interface Removed {
  rows: number;
  /** Versions that such a row names and that are live: they were restored. */
  restored: number;
}

type Composed = Omit<EventsQuery, "signal" | "zstd" | "unsettled"> & { unsettled: UnsettledImports };

export async function composeEvents(
  { artifacts, unsettled, format, ...range }: Composed,
  removed: Removed,
): Promise<Pick<RowsQuery, "query" | "params"> & { settings: ClickHouseSettings }> {
  const { imports, fromVersion, retracted } = unsettled;
  const isSettled = imports.length === 0;
  const named = artifacts.map(({ id, packageName }) => ({ id, name: packageName }));
  const query = [
    `${given(artifacts)}, ${namesSql("toString(artifact)", named)} AS package_name\n`,
    ...(removed.rows > REMOVED_MAX ? await addUp(isSettled) : await leaveOut(unsettled, removed)),
    `FORMAT ${FORMAT_NAMES[format]}`,
  ].join("");
  const params = {
    ...storableRange(range),
    ...(!isSettled && { unsettled: imports, unsettledFrom: fromVersion, retracted }),
  };
  return { query, params, settings: { ...FORMAT_SETTINGS, ...READ_SETTINGS } };
}

/**
 * Most live versions have one row, and most were never removed. So removed versions are left out, and the few
 * that may have several rows are read apart.
 */
async function leaveOut(unsettled: UnsettledImports, removed: Removed): Promise<string[]> {
  const isSettled = unsettled.imports.length === 0;
  // The numbers of `removed` are older than these imports.
  const isMoving = !isSettled || unsettled.changed;
  const conditions = isSettled ? [] : [await readQuery("queries/events/events-unsettled")];
  const writtenTwice = isSettled ? "" : await readQuery("queries/events/events-written-twice");
  const addsRestored = isMoving || removed.restored > 0;
  return [
    await eventsQuery("queries/events/events"),
    ...(isMoving || removed.rows > 0 ? [await readQuery("queries/events/events-removed")] : []),
    ...(isSettled ? [] : [NOT_UNSETTLED, ...conditions]),
    ...(addsRestored
      ? [(await eventsQuery("queries/events/events-restored")).replace(/^ *\{unsettled\}$/m, writtenTwice)]
      : []),
    ...(addsRestored ? conditions : []),
  ];
}

const NOT_UNSETTLED =
  "AND (e.import_id NOT IN {unsettled:Array(UUID)} OR e.version < {unsettledFrom:UInt64})\n";

async function addUp(isSettled: boolean): Promise<string[]> {
  const values = READ_COLUMNS.filter((name) => !KEY_COLUMNS.has(name));
  const query = (await eventsQuery("queries/events/events-added-up")).replace(
    /\{values\}$/m,
    values.join(", "),
  );
  return [query, ...(isSettled ? [] : [await readQuery("queries/events/events-unsettled")])];
}

const KEY_COLUMNS: ReadonlySet<string> = new Set(["artifact", "date", "event_id", "version", "import_id"]);

async function eventsQuery(path: string): Promise<string> {
  return (await readQuery(path)).replace("\n  {columns}", `\n  ${SELECTED_COLUMNS}`);
}

/** The set of so many versions takes about 200 MB. Adding up takes eight times the time, and memory for a day. */
const REMOVED_MAX = 2_000_000;

const READ_SETTINGS = {
  // In conditions, a name means the table's column, not the result column of the same name.
  prefer_column_name_to_alias: 1,
  max_query_size: "67108864",
  // Every part of the query reads the same rows of `events`, whatever is inserted meanwhile.
  enable_shared_storage_snapshot_in_query: 1,
  // Only small sets are looked up in an index. A large one would keep its elements for that, in nearly twice the memory.
  use_index_for_in_with_subqueries_max_values: "10000",
  // By the order of the table, so that adding up holds a day at a time.
  optimize_read_in_window_order: 1,
} as const satisfies ClickHouseSettings;

function given(artifacts: readonly ExportedArtifact[]): string {
  return `WITH ${uuidsLiteral(artifacts.map(({ id }) => id))} AS artifacts`;
}

/** Mostly nothing was removed, and counting is all that is done. */
async function countRemoved(
  clickhouse: ResultSource,
  { artifacts, signal, ...range }: DateRange & Pick<EventsQuery, "artifacts" | "signal">,
): Promise<Removed> {
  async function count(
    query: "queries/events/removed-rows" | "queries/events/restored-versions",
  ): Promise<number> {
    const rows = await openRows(clickhouse, {
      query: `${given(artifacts)}\n${await readQuery(query)}`,
      params: storableRange(range),
      settings: { ...FORMAT_SETTINGS, ...READ_SETTINGS },
      signal,
    });
    return ((await json(rows)) as { count: number }).count;
  }
  const rows = await count("queries/events/removed-rows");
  const restored = rows > 0 && rows <= REMOVED_MAX ? await count("queries/events/restored-versions") : 0;
  return { rows, restored };
}
