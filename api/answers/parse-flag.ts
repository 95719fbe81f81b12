import type { ParsedUrlQuery } from "node:querystring";
import { Problem } from "../../schemas/problem.js";

/** `?name=true` or `?name=false`; absent means false. Nothing else may be asked for: it would be passed over silently. */
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
