import type { Token } from "marked";
import { readGuide } from "../../web/guide-files.js";
import { parseMarkdown } from "./markdown.js";

const parsed = new Map<string, Token[]>();

/** Pages are parsed once, for themselves and for the search. */
export function parseGuide(path: string): Token[] {
  const tokens = parsed.get(path) ?? parseMarkdown(readGuide(path));
  parsed.set(path, tokens);
  return tokens;
}
