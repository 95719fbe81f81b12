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
  /**
   * Blocks that were refused, each with the place behind its last record: they are written in halves. Between a first
   * block and the smallest ones the names are left out: `0` and `0.1.1` say that `0.1` was refused as well.
   */
  refused: Map<string, number>;
  /** The record that is being enriched, in a range that was begun often. */
  at: number | undefined;
  /** How often in a row the program ended while it enriched a record. */
  deaths: Map<number, number>;
}

/** Leaves room in the 3 KB of a note; aborted imports beyond are not passed over: their chunks are written as if in time. */
const PASSED_OVER_MAX = 30;
const NOTE_BYTES_MAX = 3_000;
/** For what is noted without asking whether it fits: which record is held, deaths, one more span that is left out. */
const SPARE_BYTES = 200;
const DEATHS_NOTED_MAX = 8;
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

/** Whether all of it can be noted that decides which rows a token stands for. */
export function fitsNote(note: RangeNote): boolean {
  const text = JSON.stringify(storedNote({ ...note, at: undefined, deaths: new Map() }));
  return Buffer.byteLength(text) <= NOTE_BYTES_MAX - SPARE_BYTES;
}

/** What to remember, in 3 KB for a note that fits: it keeps as many reasons as there is room for. */
export function formatNote(note: RangeNote): string {
  const stored = storedNote(note);
  let room = NOTE_BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...stored, why: {} }));
  const why: Record<string, string> = {};
  for (const [index, reason] of note.leftOut) {
    const short = Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString();
    room -= Buffer.byteLength(`"${index}":${JSON.stringify(short)},`);
    if (room < 0) break;
    if (short !== "") why[index] = short;
  }
  return JSON.stringify({ ...stored, ...(note.leftOut.size > 0 && { why }) });
}

function storedNote({ passedOver, begun, leftOut, refused, at, deaths }: RangeNote): StoredNote {
  const noted = [...deaths]
    .filter(([index]) => !leftOut.has(index))
    .sort(([, a], [, b]) => b - a)
    .slice(0, DEATHS_NOTED_MAX);
  return {
    begun,
    ...(passedOver.length > 0 && { over: [...passedOver] }),
    ...(leftOut.size > 0 && { out: formatRanges([...leftOut.keys()]) }),
    ...(refused.size > 0 && { refused: Object.fromEntries(refused) }),
    ...(at !== undefined && { at }),
    ...(noted.length > 0 && { deaths: Object.fromEntries(noted) }),
  };
}

/** A block in the halves of which it is written, or undefined when it was not refused: then it is written whole. */
export function refusedEnd(
  { refused }: RangeNote,
  { name, to }: { name: string; to: number },
): number | undefined {
  const isImplied = () => [...refused.keys()].some((other) => other.startsWith(`${name}.`));
  return refused.get(name) ?? (isImplied() ? to : undefined);
}

/** Only a first block says where it ends: its halves follow from that. */
export function addRefused(note: RangeNote, { name, to }: { name: string; to: number }): void {
  for (const other of note.refused.keys())
    if (other.includes(".") && name.startsWith(`${other}.`)) note.refused.delete(other);
  note.refused.set(name, to);
}

/**
 * Leaves out whatever is not left out yet of the records from one place to before another: one span takes the room of
 * all that was noted of them. Only where nothing of them is stored.
 */
export function leaveOutSpan({ leftOut }: RangeNote, { from, to }: { from: number; to: number }): void {
  for (let index = from; index < to; index++) if (!leftOut.has(index)) leftOut.set(index, REASON_CROWDED);
}

const REASON_CROWDED =
  "too much else of its range could not be processed; by itself it may be well: try it again";

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
