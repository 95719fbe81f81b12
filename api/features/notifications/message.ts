/** What a message says, before it is written for mail or a chat: every text is plain and of one line. */
export interface Message {
  subject: string;
  lines: string[];
  tiles: Tile[];
  charts: Chart[];
  /** Absent where the service does not know an address that receivers can open. */
  link?: { label: string; url: string };
  small: string[];
}

export interface Tile {
  label: string;
  value: string;
  /** Against before: "+12 %". */
  change?: string;
}

export interface Chart {
  title: string;
  rows: { label: string; value: number; note?: string }[];
}

/** A message without its link, and the page that the link leads to. */
export type Draft = Pick<Message, "subject" | "lines"> &
  Partial<Message> & {
    /** Of the page that it leads to. */
    end: string;
    query?: Record<string, string>;
    label: string;
  };

const CHARACTERS_MAX = 80;

/** A text of others, such as a package's name: without what could break or reorder the lines around it, and not long. */
export function oneLine(text: string, charactersMax = CHARACTERS_MAX): string {
  const characters = [...text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim()];
  return characters.length <= charactersMax
    ? characters.join("")
    : `${characters.slice(0, charactersMax - 1).join("")}…`;
}

/** A name that others chose, where it stands in a sentence of ours: in quotation marks, which it cannot end. */
export function quoted(name: string): string {
  return `"${oneLine(name.replaceAll('"', "'"), NAME_MAX)}"`;
}

const NAME_MAX = 60;

/** Of a name in a chart: wider ones would push its bars out of sight. */
export const LABEL_MAX = 40;
