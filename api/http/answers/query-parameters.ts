import type { ParsedUrlQuery } from "node:querystring";
import { closestMatch } from "leven";
import { Problem } from "../../../schemas/problem.js";

const LETTERS_A_SLIP = 3;
const SLIPS_MAX = 3;
const SHOWN_MAX = 40;

/**
 * Refuses a query parameter that the operation does not have: the answer would look as if it had taken effect.
 * @throws Problem invalid-query, with the nearest name that there is, or else all of them
 */
export function refuseUnknownParameters(
  query: ParsedUrlQuery,
  { query: parameters = {}, queryPrefix, answers }: Asked,
): void {
  const known = Object.keys(parameters);
  const isKnown = (name: string) =>
    known.includes(name) ||
    (queryPrefix !== undefined && name.startsWith(queryPrefix) && name.length > queryPrefix.length);
  const unknown = Object.keys(query).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  throw new Problem(
    "invalid-query",
    "Unknown query parameter " +
      `${unknown.slice(0, SHOWN_MAX)}${adviceOf(unknown, known, queryPrefix)}${formatsOf(unknown, answers)}`,
  );
}

/** The part of an `Operation` that is read here. */
interface Asked {
  query?: Readonly<Record<string, unknown>>;
  queryPrefix?: string;
  answers?: Readonly<Record<number, { others?: Readonly<Record<string, unknown>> }>>;
}

/** Other services choose the format of an answer by a parameter. */
function formatsOf(unknown: string, answers: Asked["answers"]): string {
  const others = Object.keys(answers?.[200]?.others ?? {});
  if (unknown !== "format" || others.length === 0) return "";
  return ` Use the Accept header to choose the format, such as ${others[0]}.`;
}

function adviceOf(unknown: string, known: readonly string[], queryPrefix: string | undefined): string {
  const all = [...known, ...(queryPrefix === undefined ? [] : [`${queryPrefix}<name>`])];
  if (all.length === 0) return ".";
  const nearest =
    unknown.length <= SHOWN_MAX
      ? closestMatch(unknown.toLowerCase(), known, { maxDistance: slipsOf(unknown) })
      : undefined;
  return nearest === undefined ? `. Known parameters: ${all.join(", ")}.` : `. Did you mean ${nearest}?`;
}

function slipsOf({ length }: string): number {
  return Math.min(Math.floor(length / LETTERS_A_SLIP), SLIPS_MAX);
}

/** `?name=true` or `?name=false`; false if absent. Throws `invalid-query` for any other value. */
export function parseFlag(query: ParsedUrlQuery, name: string): boolean {
  const text = query[name] ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw new Problem("invalid-query", `${name} must be true or false.`);
}
