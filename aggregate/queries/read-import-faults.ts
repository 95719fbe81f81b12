import type { ClickHouse } from "../../schemas/shards.js";
import {
  FAULT_EXAMPLES_MAX,
  type ImportFault,
  type LogClass,
  type LogType,
} from "../../schemas/records/import-log.js";
import { readQuery } from "../read-query.js";

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
