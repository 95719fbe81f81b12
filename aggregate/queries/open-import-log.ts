import { openRows, type ResultSource, type Rows } from "./open-rows.js";
import { readQuery } from "../read-query.js";

export interface ImportLogQuery {
  /** UUID. */
  importId: string;
  /**
   * `import-log`: every kept entry as JSON; `rejected-lines`: refused lines as they were sent. By line.
   * `import-log-rest`: how many entries were not kept, as one more entry, if any.
   */
  what: "import-log" | "import-log-rest" | "rejected-lines";
  signal: AbortSignal;
}

/** The log of an import, an entry a line; see `openRows` for how it fails. */
export async function openImportLog(
  clickhouse: ResultSource,
  { importId, what, signal }: ImportLogQuery,
): Promise<Rows> {
  return openRows(clickhouse, { query: await readQuery(`queries/${what}`), params: { importId }, signal });
}
