import { VARIABLE_BYTES_MAX, VARIABLES_MAX } from "../../../schemas/records/import-limits.js";
import { decodePercent, readableText } from "../../routing/decode-percent.js";

/** A parameter of a query. */
export interface QueryParameter {
  /** As it was sent. */
  text: string;
  /** Decoded. */
  name: string;
}

/** The parameters of a query, without empty ones. */
export function parametersOf(query: string): QueryParameter[] {
  return query
    .split("&")
    .filter((text) => text !== "")
    .map((text) => ({ text, name: decoded(text.split("=", 1)[0] ?? "") }));
}

/**
 * Parameters as a JSON object, decoded as forms are: `+` is a space there. Empty when there is none. Of equal names the
 * first counts. Leaves out those that `known` has, and those that enrichment would: more than 64 variables, or of over
 * 1 KiB.
 */
export function sentParameters(
  parameters: readonly QueryParameter[],
  known: ReadonlyMap<string, unknown>,
): string {
  const sent = new Map<string, string>();
  for (const { text } of parameters) {
    if (sent.size === VARIABLES_MAX) break;
    const [name = "", ...rest] = text.replaceAll("+", " ").split("=").map(decoded);
    const value = rest.join("=");
    if (known.has(name) || sent.has(name)) continue;
    if (name.length <= VARIABLE_BYTES_MAX && value.length <= VARIABLE_BYTES_MAX) sent.set(name, value);
  }
  return sent.size === 0 ? "" : JSON.stringify(Object.fromEntries(sent));
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  const plain = decodePercent(text).map((character) => character.plain);
  return readableText(plain.join(""));
}
