import { openRows, type ResultSource, type Rows } from "./open-rows.js";
import { readQuery } from "../read-query.js";
import type { ClickHouse } from "../../schemas/shards.js";
import {
  FAULT_EXAMPLES_MAX,
  type ImportFault,
  type LogClass,
  type LogType,
} from "../../schemas/records/import-log.js";

export interface ImportLogQuery {
  importId: string;
  /**
   * `import-log`: every kept entry as JSON; `rejected-lines`: refused lines as sent; both by line.
   * `import-log-rest`: how many were not kept, as one more entry, if any.
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

/** The entries of an import's log by class and type: errors first, then the most frequent. */
export async function readImportFaults(clickhouse: ClickHouse, importId: string): Promise<ImportFault[]> {
  const answer = await clickhouse.query({
    query: await readQuery("queries/import-faults"),
    query_params: { importId, examples: FAULT_EXAMPLES_MAX },
    format: "JSONEachRow",
  });
  return (await answer.json<Row>()).map(({ class: faultClass, type, entries, first }) => ({
    class: faultClass,
    type,
    count: Number(entries),
    examples: first.map(([line, message, text]) => ({
      line: Number(line),
      human_friendly_message: message,
      ...(text !== "" && { text }),
    })),
  }));
}

/** 64-bit numbers may be text. */
interface Row {
  class: LogClass;
  type: LogType;
  entries: number | string;
  first: [line: number | string, message: string, text: string][];
}
