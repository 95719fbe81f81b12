import type { ImportFormat } from "./import-format.js";

/** The time that web servers write: `10/Oct/2026:13:55:36 -0700`. */
export const LOGGED_TIME = String.raw`\d\d\/[A-Z][a-z]{2}\/\d{4}(?::\d\d){3} [+-]\d{4}`;

/** What a line of a log has once. In quotes of their own, servers escape it. */
const ONCE: Partial<Record<ImportFormat, RegExp>> = {
  combined: new RegExp(String.raw`\[${LOGGED_TIME}\] "`, "g"),
  s3: new RegExp(String.raw`\[${LOGGED_TIME}\] `, "g"),
  cloudfront: /\d{4}-\d\d-\d\d\s\d\d:\d\d:\d\d\s/g,
};

/** How many requests a text, a line or a part of one, holds; 0 for formats of other lines. */
export function countRequests(text: string, format: ImportFormat): number {
  const pattern = ONCE[format];
  return pattern === undefined ? 0 : (text.match(pattern)?.length ?? 0);
}

/** The end of the object that a text begins with, or -1 where it has none. Strings are skipped; nothing else is checked. */
export function endOfObject(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === "{") depth++;
    else if (token === "}" && --depth === 0) return index + 1;
  }
  return -1;
}

const TOKENS = /"(?:[^"\\]|\\.)*(?:"|$)|[{}]/gs;
