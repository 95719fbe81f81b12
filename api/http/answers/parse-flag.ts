import type { ParsedUrlQuery } from "node:querystring";
import { Problem } from "../../../schemas/problem.js";

/** `?name=true` or `?name=false`; false if absent. Throws `invalid-query` for any other value. */
export function parseFlag(query: ParsedUrlQuery, name: string): boolean {
  const text = query[name] ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new Problem("invalid-query", `${name} must be true or false.`);
}
