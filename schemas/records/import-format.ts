interface FormatDeclaration {
  /** `rows`: of a CSV, whose header names its columns; `texts`: fields between spaces or tabs. */
  lines: "objects" | "rows" | "texts";
  /** Requests: `path` says which of them are downloads, and no line names its package. */
  isAccessLog?: true;
}

const FORMATS = {
  ndjson: { lines: "objects" },
  csv: { lines: "rows" },
  combined: { lines: "texts", isAccessLog: true },
  cloudfront: { lines: "texts", isAccessLog: true },
  s3: { lines: "texts", isAccessLog: true },
  caddy: { lines: "objects", isAccessLog: true },
  traefik: { lines: "objects", isAccessLog: true },
  "docker-dvp": { lines: "rows" },
  "pypi-bigquery": { lines: "objects" },
  "scarf-csv": { lines: "rows" },
} as const satisfies Record<string, FormatDeclaration>;

/** What the lines of an import are. A text on the wire, and in each record of the event log. */
export type ImportFormat = keyof typeof FORMATS;
export const IMPORT_FORMATS = Object.keys(FORMATS) as readonly ImportFormat[];

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
  return Object.hasOwn(FORMATS, text);
}

export function linesOf(format: ImportFormat): FormatDeclaration["lines"] {
  return FORMATS[format].lines;
}

export function isAccessLog(format: ImportFormat): boolean {
  return "isAccessLog" in FORMATS[format];
}

/** The first line of a body names its columns, and is no event. */
export function hasHeader(format: ImportFormat): boolean {
  return linesOf(format) === "rows";
}
