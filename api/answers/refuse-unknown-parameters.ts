import type { ParsedUrlQuery } from "node:querystring";
import { closestMatch } from "leven";
import { Problem } from "../../schemas/problem.js";
import type { Operation } from "../operation.js";

/** Changes of a letter that a mistyped name may be away. */
const DISTANCE_MAX = 3;
const SHOWN_MAX = 40;

/**
 * Refuses a query parameter that the operation does not have: the answer would look as if it had taken effect.
 * @throws Problem invalid-query, with the nearest name that there is, or else all of them
 */
export function refuseUnknownParameters(
  query: ParsedUrlQuery,
  { query: parameters = {}, queryPrefix }: Pick<Operation, "query" | "queryPrefix">,
): void {
  const known = Object.keys(parameters);
  const isKnown = (name: string) =>
    known.includes(name) ||
    (queryPrefix !== undefined && name.startsWith(queryPrefix) && name.length > queryPrefix.length);
  const unknown = Object.keys(query).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  throw new Problem(
    "invalid-query",
    `There is no query parameter ${unknown.slice(0, SHOWN_MAX)} here${adviceOf(unknown, known, queryPrefix)}`,
  );
}

function adviceOf(unknown: string, known: readonly string[], queryPrefix: string | undefined): string {
  const all = [...known, ...(queryPrefix === undefined ? [] : [`${queryPrefix}<name>`])];
  if (all.length === 0) return ".";
  const nearest =
    unknown.length <= SHOWN_MAX
      ? closestMatch(unknown.toLowerCase(), known, { maxDistance: DISTANCE_MAX })
      : undefined;
  return nearest === undefined ? `, only ${all.join(", ")}.` : `: did you mean ${nearest}?`;
}
