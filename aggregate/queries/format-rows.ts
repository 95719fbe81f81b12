import type { ClickHouseSettings } from "@clickhouse/client";
import type { ExportFormat } from "../../schemas/contracts/export-format.js";

/** ClickHouse's name of a format. */
export const FORMAT_NAMES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "JSONEachRow",
  csv: "CSVWithNames",
  parquet: "Parquet",
  arrow: "ArrowStream",
};

/** How values look: times as in every answer, what is not known as nothing, columns as programs of today read them. */
export const FORMAT_SETTINGS = {
  date_time_output_format: "iso",
  format_csv_null_representation: "",
  output_format_csv_crlf_end_of_line: 0,
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_parquet_string_as_string: 1,
  // What every reader can read; ClickHouse would take zstd, and lz4 for Arrow.
  output_format_parquet_compression_method: "snappy",
  output_format_arrow_compression_method: "none",
  output_format_arrow_string_as_string: 1,
  output_format_arrow_low_cardinality_as_dictionary: 0,
} as const satisfies ClickHouseSettings;
