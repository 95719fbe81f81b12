import type { ParsedUrlQuery } from "node:querystring";
import { Problem } from "../../schemas/problem.js";

/**
 * `?name=true` or `?name=false`; false if absent. Throws `invalid-query` for any other parameter, which would otherwise
 * be ignored silently.
 */
export function parseFlag(query: ParsedUrlQuery, name: string): boolean {
  const other = Object.keys(query).find((each) => each !== name);
  if (other !== undefined)
    throw new Problem(
      "invalid-query",
      `There is no query parameter ${other.slice(0, 40)} here, only ${name}.`,
    );
  const text = query[name] ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new Problem("invalid-query", `${name} must be true or false.`);
}
