import { json } from "node:stream/consumers";
import type { ClickHouseSettings } from "@clickhouse/client";
import type { DateRange } from "../../schemas/date-range.js";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";
import type { UnsettledImports } from "../../schemas/records/unsettled-imports.js";
import { FORMAT_NAMES, FORMAT_SETTINGS } from "./format-rows.js";
import { openRows, type ResultSource, type Rows, type RowsQuery } from "./open-rows.js";
import { readQuery } from "./read-query.js";
import { textLiteral, uuidsLiteral } from "./sql-literals.js";
import { storableRange } from "./storable-range.js";

/** A package or a pixel whose events are exported. */
export interface ExportedArtifact {
  /** UUID. */
  id: string;
  /** Of the package, or of the one that the pixel is associated with; empty where there is none. */
  packageName: string;
}

export interface EventsQuery extends DateRange {
  artifacts: readonly ExportedArtifact[];
  /** Of the owners of these. Asked when it is known what was taken back, right before the events are read. */
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
  const taken = await findTakenBack(clickhouse, { ...asked, signal });
  const unsettled = await readUnsettled();
  return openRows(clickhouse, { ...(await composeEvents({ ...asked, unsettled }, taken)), signal, zstd });
}

/** What was taken back and is not merged yet: rows that say so, and versions among them that are live all the same. */
export interface TakenBack {
  rows: number;
  live: number;
}

/** What ClickHouse is asked for. */
export async function composeEvents(
  {
    artifacts,
    unsettled,
    format,
    ...range
  }: Omit<EventsQuery, "signal" | "zstd" | "unsettled"> & { unsettled: UnsettledImports },
  taken: TakenBack,
): Promise<Pick<RowsQuery, "query" | "params"> & { settings: ClickHouseSettings }> {
  const isSettled = unsettled.imports.length === 0;
  // In what is settled an event has one live version, and mostly one row; adding signs up costs five times the time.
  const isPlain = isSettled && !unsettled.changed && taken.live === 0 && taken.rows <= TAKEN_BACK_MAX;
  const parts = [
    `${given(artifacts)}, ${packageNames(artifacts)} AS package_name\n${await readQuery("events")}`,
    ...(isPlain && taken.rows > 0 ? [await readQuery("events-taken-back")] : []),
    ...(isSettled ? [] : [await readQuery("events-unsettled")]),
    `FORMAT ${FORMAT_NAMES[format]}`,
  ];
  const { imports: pending, fromVersion: pendingFrom, retracted } = unsettled;
  const params = { ...storableRange(range), ...(!isSettled && { pending, pendingFrom, retracted }) };
  const settings = { ...FORMAT_SETTINGS, ...READ_SETTINGS, ...(!isPlain && { final: 1 as const }) };
  return { query: parts.join(""), params, settings };
}

/** Beyond, a set of them would take more than some 200 MB of ClickHouse's memory; adding signs up takes none. */
const TAKEN_BACK_MAX = 1_000_000;

/** The answer has columns that are named as those of the table and hold something else. */
const READ_SETTINGS = { prefer_column_name_to_alias: 1, max_query_size: "67108864" } as const;

function given(artifacts: readonly ExportedArtifact[]): string {
  return `WITH ${uuidsLiteral(artifacts.map(({ id }) => id))} AS artifacts`;
}

/** Mostly nothing was, and counting is all that is done. */
async function findTakenBack(
  clickhouse: ResultSource,
  { artifacts, signal, ...range }: DateRange & Pick<EventsQuery, "artifacts" | "signal">,
): Promise<TakenBack> {
  async function ask(what: "taken-back" | "taken-back-live"): Promise<number> {
    const rows = await openRows(clickhouse, {
      query: `${given(artifacts)}\n${await readQuery(what)}`,
      params: storableRange(range),
      settings: { ...FORMAT_SETTINGS, ...READ_SETTINGS },
      signal,
    });
    return ((await json(rows)) as { count: number }).count;
  }
  const rows = await ask("taken-back");
  const live = rows > 0 && rows <= TAKEN_BACK_MAX ? await ask("taken-back-live") : 0;
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
