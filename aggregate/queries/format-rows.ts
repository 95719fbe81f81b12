import type { ClickHouseSettings } from "@clickhouse/client";
import type { ExportFormat } from "../../schemas/contracts/aggregate.js";

export const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "JSONEachRow",
  csv: "CSVWithNames",
  parquet: "Parquet",
  arrow: "ArrowStream",
};

/** Times as in every answer, unknown values as empty, and types that today's readers of Parquet and Arrow know. */
export const FORMAT_SETTINGS = {
  date_time_output_format: "iso",
  format_csv_null_representation: "",
  output_format_csv_crlf_end_of_line: 0,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_parquet_string_as_string: 1,
  // ClickHouse's defaults are zstd, and lz4 for Arrow; not every reader knows them.
  output_format_parquet_compression_method: "snappy",
  output_format_arrow_compression_method: "none",
  output_format_arrow_string_as_string: 1,
  output_format_arrow_low_cardinality_as_dictionary: 0,
} as const satisfies ClickHouseSettings;
