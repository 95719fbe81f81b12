/** The formats of an export, which are also the endings of its file's name. */
export const EXPORT_FORMATS = ["ndjson", "csv", "parquet", "arrow"] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Parquet's and Arrow's are registered with IANA. */
export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
};
