import type { ColumnSource } from "hyparquet-writer";
import { withoutNulls } from "../../../schemas/formats.js";
import type { ReportedLine } from "../../../schemas/contracts/source.js";
import { csvRows } from "../../base/http/answers/csv.js";
import type { ReportedRow } from "./reported-counts.js";

export const REPORTED_FORMATS = ["ndjson", "csv", "parquet"] as const;
export type ReportedFormat = (typeof REPORTED_FORMATS)[number];

/** In the order of the contract. New columns are appended. */
const COLUMNS = {
  source: "STRING",
  kind: "STRING",
  name: "STRING",
  package_id: "STRING",
  date: "STRING",
  version: "STRING",
  metric: "STRING",
  value: "INT64",
  first_value: "INT64",
  fetched_at: "STRING",
  changed_at: "STRING",
} as const satisfies Record<keyof ReportedLine, "STRING" | "INT64">;
const NAMES = Object.keys(COLUMNS) as (keyof ReportedLine)[];

/** The bytes of a file with these rows, while they are read. */
export function writeReported(
  batches: AsyncIterable<ReportedRow[]>,
  format: ReportedFormat,
): AsyncGenerator<Buffer> {
  return WRITERS[format](batches);
}

const WRITERS = { ndjson: asLines, csv: asCsv, parquet: asParquet } as const;

async function* asLines(batches: AsyncIterable<ReportedRow[]>): AsyncGenerator<Buffer> {
  for await (const rows of batches)
    yield Buffer.from(rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join(""));
}

/** `value` is null on a day without one; other fields without a value are absent. */
function lineOf(row: ReportedRow): object {
  const { value, first_value } = row;
  return { ...withoutNulls<ReportedLine>(row), ...(value === null && { value, first_value }) };
}

async function* asCsv(batches: AsyncIterable<ReportedRow[]>): AsyncGenerator<Buffer> {
  yield Buffer.from(csvRows([NAMES]));
  for await (const rows of batches)
    yield Buffer.from(csvRows(rows.map((row) => NAMES.map((name) => row[name] ?? ""))));
}

/** A row group for each batch. */
async function* asParquet(batches: AsyncIterable<ReportedRow[]>): AsyncGenerator<Buffer> {
  // Loaded for the first such file: a start need not wait for it.
  const { ByteWriter, ParquetWriter, schemaFromColumnData } = await import("hyparquet-writer");
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: schemaFromColumnData({ columnData: columnsOf([]) }) });
  const written = () => {
    const bytes = Buffer.from(writer.getBytes().slice());
    // `offset` goes on: places in the file count from its beginning.
    writer.index = 0;
    return bytes;
  };
  for await (const rows of batches) {
    await parquet.write({ columnData: columnsOf(rows), rowGroupSize: rows.length });
    yield written();
  }
  await parquet.finish();
  yield written();
}

function columnsOf(rows: readonly ReportedRow[]): ColumnSource[] {
  return NAMES.map((name) => {
    const isNumber = COLUMNS[name] === "INT64";
    const data = rows.map((row) => (isNumber && row[name] !== null ? BigInt(row[name]) : row[name]));
    return { name, type: COLUMNS[name], nullable: true, data };
  });
}
