import { createHash } from "node:crypto";
import pg from "pg";

/**
 * Prepares each statement once for each connection. Parsing and planning a short statement costs the server more than
 * executing it. Only for tables whose sizes change slowly: a plan for an empty table stays until the table is analysed.
 */
export class PreparingClient extends pg.Client {
  override query = ((query: unknown, values?: unknown, ...rest: unknown[]) => {
    const run = super.query.bind(this) as (...args: unknown[]) => unknown;
    const name =
      typeof query === "string" && Array.isArray(values) && values.length > 0 ? nameOf(query) : undefined;
    return name === undefined ? run(query, values, ...rest) : run({ name, text: query }, values, ...rest);
  }) as pg.Client["query"];
}

/** Each prepared statement takes memory of every connection. The program has fewer; further ones are not prepared. */
const STATEMENTS_MAX = 500;
const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= STATEMENTS_MAX) return known;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  names.set(text, name);
  return name;
}
