import type { Shards } from "../../schemas/shards.js";
import { openRows } from "../queries/open-rows.js";
import { readQuery } from "../read-query.js";

/** The rows of a statement of this folder that reads activity, as ClickHouse sends them. */
export async function* readLines<Row>(
  shards: Shards,
  { statement, params, signal }: { statement: string; params: Record<string, unknown>; signal: AbortSignal },
): AsyncGenerator<Row> {
  const query = await readQuery(`funnel/${statement}`);
  const bytes = await openRows(shards.all, { query, params, signal });
  for await (const line of linesOf(bytes)) yield JSON.parse(line) as Row;
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer[] = [];
  for await (const part of bytes) {
    const end = part.lastIndexOf(NEWLINE);
    if (end < 0) {
      held.push(Buffer.from(part));
      continue;
    }
    const lines = Buffer.concat([...held, part.subarray(0, end)]).toString();
    held = [Buffer.from(part.subarray(end + 1))];
    yield* lines.split("\n");
  }
}

const NEWLINE = 0x0a;
