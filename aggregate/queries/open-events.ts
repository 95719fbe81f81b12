import { json } from "node:stream/consumers";
import type { ClickHouseSettings } from "@clickhouse/client";
import type { DateRange } from "../../schemas/date-range.js";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";
import type { UnsettledImports } from "../../schemas/records/unsettled-imports.js";
import { SELECTED_COLUMNS } from "./event-columns.js";
import { FORMAT_NAMES, FORMAT_SETTINGS } from "./format-rows.js";
import { openRows, type ResultSource, type Rows, type RowsQuery } from "./open-rows.js";
import { readQuery } from "../read-query.js";
import { textLiteral, uuidsLiteral } from "./sql-literals.js";
import { storableRange } from "./storable-range.js";

/** A package or a pixel whose events are exported. */
export interface ExportedArtifact {
  /** UUID. */
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

/** Each live event once, in no order; see `openRows` for how it fails, and `queries/events.sql` for what is live. */
export async function openEvents(
  clickhouse: ResultSource,
  { signal, zstd, unsettled: readUnsettled, ...asked }: EventsQuery,
): Promise<Rows> {
  const removed = await countRemoved(clickhouse, { ...asked, signal });
  const unsettled = await readUnsettled();
  return openRows(clickhouse, { ...(await composeEvents({ ...asked, unsettled }, removed)), signal, zstd });
}

/** Rows that settlement wrote to remove versions and that merges have not swept yet. */
export interface Removed {
  /** Rows that remove a version. */
  rows: number;
  /** Versions that such a row names and that are live all the same: they were restored. */
  live: number;
}

/** The query of an events export, with its parameters and settings. */
export async function composeEvents(
  {
    artifacts,
    unsettled,
    format,
    ...range
  }: Omit<EventsQuery, "signal" | "zstd" | "unsettled"> & { unsettled: UnsettledImports },
  removed: Removed,
): Promise<Pick<RowsQuery, "query" | "params"> & { settings: ClickHouseSettings }> {
  const isSettled = unsettled.imports.length === 0;
  // A settled event has one live version, and mostly one row; adding signs up costs five times the time.
  const isPlain = isSettled && !unsettled.changed && removed.live === 0 && removed.rows <= REMOVED_MAX;
  const parts = [
    `${given(artifacts)}, ${packageNames(artifacts)} AS package_name\n`,
    (await readQuery("queries/events")).replace("\n  {columns}", `\n  ${SELECTED_COLUMNS}`),
    ...(isPlain && removed.rows > 0 ? [await readQuery("queries/events-removed")] : []),
    ...(isSettled ? [] : [await readQuery("queries/events-unsettled")]),
    `FORMAT ${FORMAT_NAMES[format]}`,
  ];
  const { imports: pending, fromVersion: pendingFrom, retracted } = unsettled;
  const params = { ...storableRange(range), ...(!isSettled && { pending, pendingFrom, retracted }) };
  const settings = { ...FORMAT_SETTINGS, ...READ_SETTINGS, ...(!isPlain && { final: 1 as const }) };
  return { query: parts.join(""), params, settings };
}

/** Above this many removed rows the NOT IN set needs more than 200 MB; `final` needs none. */
const REMOVED_MAX = 1_000_000;

/** In conditions, a name means the table's column, not the result column of the same name. */
const READ_SETTINGS = { prefer_column_name_to_alias: 1, max_query_size: "67108864" } as const;

function given(artifacts: readonly ExportedArtifact[]): string {
  return `WITH ${uuidsLiteral(artifacts.map(({ id }) => id))} AS artifacts`;
}

/** Mostly nothing was removed, and counting is all that is done. */
async function countRemoved(
  clickhouse: ResultSource,
  { artifacts, signal, ...range }: DateRange & Pick<EventsQuery, "artifacts" | "signal">,
): Promise<Removed> {
  async function count(query: "queries/removed-rows" | "queries/removed-live"): Promise<number> {
    const rows = await openRows(clickhouse, {
      query: `${given(artifacts)}\n${await readQuery(query)}`,
      params: storableRange(range),
      settings: { ...FORMAT_SETTINGS, ...READ_SETTINGS },
      signal,
    });
    return ((await json(rows)) as { count: number }).count;
  }
  const rows = await count("queries/removed-rows");
  const live = rows > 0 && rows <= REMOVED_MAX ? await count("queries/removed-live") : 0;
  return { rows, live };
}

/** One name is a constant: looking it up for every row would take time. */
function packageNames(artifacts: readonly ExportedArtifact[]): string {
  const [first = "", ...others] = new Set(artifacts.map(({ packageName }) => packageName));
  if (others.length === 0) return textLiteral(first);
  const ids = artifacts.map(({ id }) => `'${id.toLowerCase()}'`).join(",");
  const names = artifacts.map(({ packageName }) => textLiteral(packageName)).join(",");
  return `transform(toString(artifact), [${ids}], [${names}], '')`;
}
