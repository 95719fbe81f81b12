import type { LogBatch } from "../../schemas/records/event-log.js";
import { isUuid } from "../../schemas/formats.js";
import {
  decodeChunkHead,
  decodeRawChunk,
  type ChunkHead,
  type RawChunk,
} from "../../schemas/records/raw-chunk.js";

/**
 * The state of a range that was begun and not committed. The event log keeps it with the range, as JSON, so that it
 * survives the process. Records are named by their index in the batch, from 0.
 */
export interface RangeNote {
  /** The shard that the rows go to, at every attempt. Undefined where there is one server. */
  shard: string | undefined;
  /** Imports that were aborted before the first attempt: their chunks are skipped at every attempt. */
  skippedImports: readonly string[];
  /** How often the range was begun, this time included. */
  attempts: number;
  /** Records that are dead letters, each with its reason; an empty one where the note had no room for it. */
  excluded: Map<number, string>;
  /**
   * Blocks that were refused and are written in halves: name and exclusive end. Only first blocks and the smallest
   * halves are noted: `0` and `0.1.1` imply `0.1`.
   */
  refused: Map<string, number>;
  /** The record that is being enriched, once poison detection is on. */
  enriching: number | undefined;
  /** How often in a row a worker ended while it enriched a record. */
  crashes: Map<number, number>;
}

/** Aborted imports beyond this number do not fit into the note: their chunks are written as if the abort came later. */
const SKIPPED_IMPORTS_MAX = 30;
const NOTE_BYTES_MAX = 3_000;
/** Room for parts that are noted without checking that they fit: `enriching`, `crashes`, one more span of `excluded`. */
const SPARE_BYTES = 200;
const CRASHES_NOTED_MAX = 8;
const REASON_BYTES_MAX = 160;

export function newNote(skippedImports: readonly string[], shard?: string): RangeNote {
  return {
    shard,
    skippedImports: skippedImports.slice(0, SKIPPED_IMPORTS_MAX),
    attempts: 1,
    excluded: new Map(),
    refused: new Map(),
    enriching: undefined,
    crashes: new Map(),
  };
}

/** The names must stay: a note may be read by a later version than the one that wrote it. */
interface StoredNote {
  shard?: string;
  skippedImports?: string[];
  attempts: number;
  /** `3-7,9` */
  excluded?: string;
  reasons?: Record<string, string>;
  refused?: Record<string, number>;
  enriching?: number;
  crashes?: Record<string, number>;
}

/** Whether the note has room for everything that decides which rows a token stands for. */
export function fitsNote(note: RangeNote): boolean {
  const text = JSON.stringify(storedNote({ ...note, enriching: undefined, crashes: new Map() }));
  return Buffer.byteLength(text) <= NOTE_BYTES_MAX - SPARE_BYTES;
}

/** The note as JSON, at most 3 KB when it fits, with as many reasons as there is room for. */
export function formatNote(note: RangeNote): string {
  const stored = storedNote(note);
  let room = NOTE_BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...stored, reasons: {} }));
  const reasons: Record<string, string> = {};
  for (const [index, reason] of note.excluded) {
    const short = Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString();
    room -= Buffer.byteLength(`"${index}":${JSON.stringify(short)},`);
    if (room < 0) break;
    if (short !== "") reasons[index] = short;
  }
  return JSON.stringify({ ...stored, ...(note.excluded.size > 0 && { reasons }) });
}

function storedNote(note: RangeNote): StoredNote {
  const { shard, skippedImports, attempts, excluded, refused, enriching, crashes } = note;
  const most = [...crashes]
    .filter(([index]) => !excluded.has(index))
    .sort(([, a], [, b]) => b - a)
    .slice(0, CRASHES_NOTED_MAX);
  return {
    attempts,
    ...(shard !== undefined && { shard }),
    ...(skippedImports.length > 0 && { skippedImports: [...skippedImports] }),
    ...(excluded.size > 0 && { excluded: formatRanges([...excluded.keys()]) }),
    ...(refused.size > 0 && { refused: Object.fromEntries(refused) }),
    ...(enriching !== undefined && { enriching }),
    ...(most.length > 0 && { crashes: Object.fromEntries(most) }),
  };
}

/** The exclusive end of a refused block, which is written in halves; undefined for a block that is written whole. */
export function refusedEnd(
  { refused }: RangeNote,
  { name, to }: { name: string; to: number },
): number | undefined {
  const isImplied = () => [...refused.keys()].some((other) => other.startsWith(`${name}.`));
  return refused.get(name) ?? (isImplied() ? to : undefined);
}

/** Drops the names that the new one implies. The end of a first block stays: the ends of its halves follow from it. */
export function addRefused(note: RangeNote, { name, to }: { name: string; to: number }): void {
  for (const other of note.refused.keys())
    if (other.includes(".") && name.startsWith(`${other}.`)) note.refused.delete(other);
  note.refused.set(name, to);
}

/**
 * Excludes all records from `from` to before `to`. As one span they need little room in the note. Only for records of
 * which nothing is stored.
 */
export function excludeSpan({ excluded }: RangeNote, { from, to }: { from: number; to: number }): void {
  for (let index = from; index < to; index++) if (!excluded.has(index)) excluded.set(index, REASON_NO_ROOM);
}

const REASON_NO_ROOM =
  "too many other records of its range could not be processed; this one may be fine: retry it";

/** The note for the next attempt. A record that was being enriched when the worker ended has one more crash. */
export function resumeNote(text: string): RangeNote {
  const stored = JSON.parse(text) as StoredNote;
  const crashes = new Map(Object.entries(stored.crashes ?? {}).map(([index, n]) => [Number(index), n]));
  if (stored.enriching !== undefined) crashes.set(stored.enriching, (crashes.get(stored.enriching) ?? 0) + 1);
  return {
    shard: stored.shard,
    skippedImports: stored.skippedImports ?? [],
    attempts: stored.attempts + 1,
    excluded: new Map(
      parseRanges(stored.excluded ?? "").map((index) => [index, stored.reasons?.[index] ?? ""]),
    ),
    refused: new Map(Object.entries(stored.refused ?? {})),
    enriching: undefined,
    crashes,
  };
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

/** A record of a batch: its chunk, or why there is none and as much of it as can be read. */
export type BatchRecord = {
  /** Place in the batch, from 0. */
  index: number;
  offset: number;
  value: Uint8Array;
} & Reading;

type Reading = { chunk: RawChunk } | { unreadable: string; head: ChunkHead | undefined };

export type ReadableRecord = Extract<BatchRecord, { chunk: RawChunk }>;

/** Never throws: a record that is no chunk is a fact about the log. */
export function readRecords({ records }: LogBatch): BatchRecord[] {
  return records.map(({ offset, value }, index) => ({ index, offset, value, ...readRecord(value) }));
}

export function isReadable(record: BatchRecord): record is ReadableRecord {
  return "chunk" in record;
}

function readRecord(value: Uint8Array): Reading {
  try {
    const chunk = decodeRawChunk(value);
    if (namesImport(chunk)) return { chunk };
    return { unreadable: "its import id is not a UUID", head: undefined };
  } catch (error) {
    const head = decodeChunkHead(value);
    const unreadable = `it is not a chunk of a known form (${error instanceof Error ? error.message : String(error)})`;
    return { unreadable, head: head !== undefined && isSound(head) ? head : undefined };
  }
}

/** The `importId` of a live chunk is only a prefix of keys and need not be a UUID. */
function namesImport({ source, importId }: ChunkHead): boolean {
  return source === "collect" || isUuid(importId);
}

/** Bytes of something else may decode by chance: hardly into two UUIDs and small numbers. */
function isSound(head: ChunkHead): boolean {
  return isUuid(head.ownerId) && isUuid(head.importId) && head.sequence >= 0 && head.firstLine > 0;
}
