import type { MarkedToken, Token } from "marked";
import { GUIDE_NAMES, type GuideName, guideFile, guideTitle } from "../../web/guide-files.js";
import { headingId } from "./markdown.js";
import { parseGuide } from "./parse-guide.js";

/** A section of a page that has every word of a search. */
export interface Found {
  name: GuideName;
  title: string;
  /** The heading above it; absent above the first heading of a page. */
  heading?: { text: string; id: string };
  /** The text around the first word, cut into parts: those at odd places are words of the search. */
  excerpt: string[];
}

interface Section extends Omit<Found, "excerpt"> {
  text: string;
  /** Title, heading and text in lower case. */
  searched: string;
}

const WORDS_MAX = 8;
const FOUND_MAX = 20;
const BEFORE = 60;
const EXCERPT = 220;

/** Sections with all words of the text, first those with a word in their title or heading. At most 20. */
export function searchGuide(text: string): Found[] {
  const words = [...new Set(text.toLowerCase().split(/\s+/))]
    .filter((word) => word !== "")
    .slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  return sections()
    .filter(({ searched }) => words.every((word) => searched.includes(word)))
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, FOUND_MAX)
    .map(({ section: { text: whole, searched: _, ...section } }) => ({
      ...section,
      excerpt: excerptOf(whole, words),
    }));
}

function scoreOf({ title, heading, searched }: Section, words: readonly string[]): number {
  const named = `${title} ${heading?.text ?? ""}`.toLowerCase();
  return words.reduce(
    (score, word) => score + (named.includes(word) ? 10 : 0) + Math.min(searched.split(word).length - 1, 5),
    0,
  );
}

function excerptOf(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const start = from === 0 ? 0 : text.indexOf(" ", from) + 1;
  const cut = `${start > 0 ? "… " : ""}${text.slice(start, start + EXCERPT).trim()}${start + EXCERPT < text.length ? " …" : ""}`;
  const any = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return cut.split(new RegExp(`(${any})`, "i"));
}

let read: readonly Section[] | undefined;

function sections(): readonly Section[] {
  return (read ??= GUIDE_NAMES.flatMap(sectionsOf));
}

function sectionsOf(name: GuideName): Section[] {
  const title = guideTitle(name);
  const cut: { heading?: string; texts: string[] }[] = [{ texts: [] }];
  for (const token of parseGuide(guideFile(name) ?? "") as MarkedToken[])
    if (token.type === "heading" && token.depth > 1) cut.push({ heading: plainText([token]), texts: [] });
    else if (token.type !== "heading") cut.at(-1)?.texts.push(plainText([token]));
  return cut.map(({ heading, texts }) => {
    const text = texts.join(" ").replace(/\s+/g, " ").trim();
    return {
      name,
      title,
      ...(heading !== undefined && { heading: { text: heading, id: headingId(heading) } }),
      text,
      searched: `${title} ${heading ?? ""} ${text}`.toLowerCase(),
    };
  });
}

/** The words of tokens as a reader sees them, blocks to copy included. */
export function plainText(tokens: readonly Token[]): string {
  return (tokens as MarkedToken[]).map(wordsOf).join("");
}

function wordsOf(token: MarkedToken): string {
  if (token.type === "html") return "";
  if (token.type === "table")
    return [token.header, ...token.rows]
      .flat()
      .map((cell) => `${plainText(cell.tokens)} `)
      .join("");
  if (token.type === "list") return token.items.map((item) => `${plainText(item.tokens)} `).join("");
  if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens);
  return "text" in token ? token.text : " ";
}
