import type { ClickHouse } from "../../schemas/shards.js";
import { deleteRows } from "../retention/delete-rows.js";

/** A mutation names so many lines at a time; a later round names the rest. */
const LINES_MAX = 1_000;

/**
 * Erases the texts of refused lines that a condition picks, of the imports of these ids; the entries about them stay.
 * Answers whether there were any, and how many are being erased now: ClickHouse rewrites parts in its own time, so call it
 * again until there are none.
 */
export async function eraseRefusedLines(
  clickhouse: ClickHouse,
  imports: readonly string[],
  isWanted: (line: Buffer) => boolean,
): Promise<{ found: boolean; erased: number }> {
  const ids: string[] = [];
  const lines: number[] = [];
  const answer = await clickhouse.query({
    query: REFUSED_LINES,
    query_params: { imports },
    format: "JSONEachRow",
  });
  for await (const rows of answer.stream<RefusedLine>())
    for (const row of rows) {
      const { id, line, bytes } = row.json();
      if (ids.length >= LINES_MAX || !isWanted(Buffer.from(bytes, "base64"))) continue;
      ids.push(id);
      lines.push(Number(line));
    }
  if (ids.length === 0) return { found: false, erased: 0 };
  const { rows } = await deleteRows(clickhouse, {
    table: "import_log",
    update: "line_bytes = ''",
    where: `class = 'error' AND line_bytes != '' AND import_id IN {ids:Array(UUID)}
      AND (import_id, line) IN (SELECT arrayJoin(arrayZip({ids:Array(UUID)}, {lines:Array(UInt64)})))`,
    params: { ids, lines },
  });
  return { found: true, erased: rows };
}

interface RefusedLine {
  id: string;
  line: string;
  bytes: string;
}

const REFUSED_LINES = `
  SELECT toString(import_id) AS id, toString(import_log.line) AS line, base64Encode(line_bytes) AS bytes
  FROM import_log
  WHERE import_id IN {imports:Array(UUID)} AND class = 'error' AND line_bytes != ''`;
