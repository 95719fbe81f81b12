/**
 * What is remembered of a range that was begun and not committed, also when the process dies: as JSON in the note
 * that the event log keeps with the range. Records are named by their place in the batch, from 0.
 */
export interface RangeNote {
  /** Imports that were aborted when the range was first begun: their chunks are passed over each time. */
  passedOver: readonly string[];
  /** How often it was begun, this time included. */
  begun: number;
  /** Records that are set aside, each with the reason, or with an empty text where the note had no room for it. */
  leftOut: Map<number, string>;
  /** Blocks that ClickHouse refused, each with the place behind its last record: they are written in halves. */
  refused: Map<string, number>;
  /** The record that is being enriched, in a range that was begun often. */
  at: number | undefined;
  /** How often the program ended while it enriched a record. */
  deaths: Map<number, number>;
}

/** Leaves room in the 3 KB of a note; aborted imports beyond are not passed over: their chunks are written as if in time. */
const PASSED_OVER_MAX = 60;
const NOTE_BYTES_MAX = 3_000;
const REASON_BYTES_MAX = 160;

export function newNote(passedOver: readonly string[]): RangeNote {
  return {
    passedOver: passedOver.slice(0, PASSED_OVER_MAX),
    begun: 1,
    leftOut: new Map(),
    refused: new Map(),
    at: undefined,
    deaths: new Map(),
  };
}

interface StoredNote {
  over?: string[];
  begun: number;
  /** `3-7,9` */
  out?: string;
  why?: Record<string, string>;
  refused?: Record<string, number>;
  at?: number;
  deaths?: Record<string, number>;
}

/**
 * What to remember, shortened to fit: first the reasons go.
 * @throws when even then there is too much: then it is hardly the records that are wrong
 */
export function formatNote(note: RangeNote): string {
  const why = [...note.leftOut].filter(([, reason]) => reason !== "").map(shortened);
  for (let kept = why.length; kept >= 0; kept--) {
    const text = JSON.stringify(storedNote(note, Object.fromEntries(why.slice(0, kept))));
    if (Buffer.byteLength(text) <= NOTE_BYTES_MAX) return text;
  }
  throw new Error(`more is wrong with one range of the event log than its note can hold`);
}

function shortened([index, reason]: [number, string]): [number, string] {
  return [index, Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString()];
}

function storedNote(note: RangeNote, why: Record<string, string>): StoredNote {
  const { passedOver, begun, leftOut, refused, at, deaths } = note;
  return {
    begun,
    ...(passedOver.length > 0 && { over: [...passedOver] }),
    ...(leftOut.size > 0 && { out: formatRanges([...leftOut.keys()]), why }),
    ...(refused.size > 0 && { refused: Object.fromEntries(refused) }),
    ...(at !== undefined && { at }),
    ...(deaths.size > 0 && { deaths: Object.fromEntries(deaths) }),
  };
}

/** The same range, begun once more. A record that was being enriched when the program ended is counted for it. */
export function resumeNote(text: string): RangeNote {
  const stored = parseStored(text);
  const deaths = new Map(Object.entries(stored.deaths ?? {}).map(([index, n]) => [Number(index), n]));
  if (stored.at !== undefined) deaths.set(stored.at, (deaths.get(stored.at) ?? 0) + 1);
  return {
    passedOver: stored.over ?? [],
    begun: stored.begun + 1,
    leftOut: new Map(parseRanges(stored.out ?? "").map((index) => [index, stored.why?.[index] ?? ""])),
    refused: new Map(Object.entries(stored.refused ?? {})),
    at: undefined,
    deaths,
  };
}

/** A version before this one noted nothing but the imports that it passed over. */
function parseStored(text: string): StoredNote {
  if (text.startsWith("{")) return JSON.parse(text) as StoredNote;
  return { begun: 1, over: text.split(" ").filter((id) => id !== "") };
}

/** Whole numbers in short: `3-7,9`. */
export function formatRanges(indexes: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

export function parseRanges(text: string): number[] {
  if (text === "") return [];
  return text.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
