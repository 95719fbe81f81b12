/** What the lines of an import are. Wire values, and a text in each record of the event log. */
export const IMPORT_FORMATS = [
  "ndjson",
  "csv",
  "combined",
  "cloudfront",
  "s3",
  "caddy",
  "traefik",
  "docker-dvp",
  "pypi-bigquery",
  "scarf-csv",
] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** How the lines of a chunk are to be understood. */
export interface LineFormat {
  format: ImportFormat;
  /** The URL template of the downloads in an access log; empty: every path. */
  path: string;
  /** The line that names the columns of the lines, without its end; empty where the format has none. */
  header: string;
}

export const NDJSON: LineFormat = { format: "ndjson", path: "", header: "" };

export function isImportFormat(text: string): text is ImportFormat {
  return (IMPORT_FORMATS as readonly string[]).includes(text);
}

const ACCESS_LOGS: ReadonlySet<ImportFormat> = new Set(["combined", "cloudfront", "s3", "caddy", "traefik"]);

/** Requests: `path` says which of them are downloads, and no line names its package. */
export function isAccessLog(format: ImportFormat): boolean {
  return ACCESS_LOGS.has(format);
}

const WITH_HEADER: ReadonlySet<ImportFormat> = new Set(["csv", "docker-dvp", "scarf-csv"]);

/** The first line of a body names its columns, and is no event. */
export function hasHeader(format: ImportFormat): boolean {
  return WITH_HEADER.has(format);
}
