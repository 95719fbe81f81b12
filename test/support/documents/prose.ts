import { lexer, type MarkedToken, type Token, type Tokens } from "marked";

/** A piece of a page that is read as one: without headings, blocks of code and comments. */
export interface Prose {
  kind: "paragraph" | "cell";
  /** As a reader sees it, with `CODE` for each name in backquotes, which counts as one word. */
  text: string;
  /** The same with the names, to measure its length and to find it. */
  shown: string;
}

/** A paragraph, an item of a list without the lists in it, and a cell of a table are each one piece. */
export function proseOf(page: string): Prose[] {
  return allOf(lexer(page));
}

/** Sentences end at a full stop, a question or an exclamation mark, and at a colon that ends the piece. */
export function sentencesOf({ text }: Prose): string[] {
  return text.split(/(?<=[.!?][")]?)\s+(?=["(]?[A-Z0-9])/).filter((sentence) => sentence.trim() !== "");
}

export function wordsOf(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function piecesOf(token: MarkedToken): Prose[] {
  if (token.type === "paragraph" || token.type === "text") return [piece("paragraph", token)];
  if (token.type === "blockquote") return allOf(token.tokens);
  if (token.type === "list") return token.items.flatMap((item) => allOf(item.tokens));
  if (token.type === "table") return token.rows.flat().map((cell) => piece("cell", cell));
  return [];
}

const allOf = (tokens: readonly Token[]) => tokens.flatMap((token) => piecesOf(token as MarkedToken));

function piece(kind: Prose["kind"], { tokens = [] }: { tokens?: Token[] }): Prose {
  return { kind, text: textOf(tokens, () => "CODE").trim(), shown: textOf(tokens, (code) => code).trim() };
}

function textOf(tokens: readonly Token[], codeAs: (code: string) => string): string {
  return tokens
    .map((token) => {
      const { type, text = "", tokens: inner } = token as Tokens.Generic & { text?: string };
      if (type === "codespan") return codeAs(text);
      if (type === "html") return "";
      return inner === undefined ? text.replace(/\s+/g, " ") : textOf(inner, codeAs);
    })
    .join("");
}
