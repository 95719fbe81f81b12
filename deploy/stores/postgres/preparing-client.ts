import { createHash } from "node:crypto";
import pg from "pg";

/**
 * Lets the server parse and plan each statement once for each connection, and not each time: that costs it more than
 * doing what a short statement asks. For statements whose tables keep their sizes for a while: a plan that was made for
 * an empty table stays until the table is analysed.
 */
export class PreparingClient extends pg.Client {
  override query = ((query: unknown, values?: unknown, ...rest: unknown[]) => {
    const run = super.query.bind(this) as (...args: unknown[]) => unknown;
    const name =
      typeof query === "string" && Array.isArray(values) && values.length > 0 ? nameOf(query) : undefined;
    return name === undefined ? run(query, values, ...rest) : run({ name, text: query }, values, ...rest);
  }) as pg.Client["query"];
}

/** Each costs every connection memory. The program has fewer; none that grows without end must fill the server. */
const STATEMENTS_MAX = 500;
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  names.set(text, name);
  return name;
}
