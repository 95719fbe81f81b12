import type { LogBatch } from "../../schemas/records/event-log.js";
import { isUuid } from "../../schemas/formats.js";
import {
  decodeChunkHead,
  decodeRawChunk,
  type ChunkHead,
  type RawChunk,
} from "../../schemas/records/raw-chunk.js";

/**
 * A batch that is begun and not committed. The event log keeps it, as JSON, so that it survives the process.
 */
export interface BatchState {
  /** The shard that the rows go to, at every attempt. Undefined where there is one server. */
  shard: string | undefined;
  /** Imports that were aborted before the first attempt: their chunks are skipped at every attempt. */
  skippedImports: readonly string[];
  /** How often the batch was begun, this time included. */
  attempts: number;
  /** Which lookup tables there were at the first attempt, and which recount was the latest. */
  basis: string;
  /** `Shard.startedAt` when the rows were sent, or sent once more. */
  serverStart: number;
  /** How often the rows were deleted and sent anew, because the server started again before they were synced. */
  renewals: number;
  /** Chunks that are dead letters, each with its reason; an empty one where the state had no room for it. */
  excluded: Map<number, string>;
  /**
   * Blocks that were refused: name and exclusive end. Only first blocks and the smallest halves are recorded:
   * `0` and `0.1.1` imply `0.1`.
   */
  refused: Map<string, number>;
  enriching: number | undefined;
  /** How often in a row a worker ended while it enriched a chunk. */
  crashes: Map<number, number>;
}

/** Aborted imports beyond this number do not fit into it: their chunks are written as if the abort came later. */
const SKIPPED_IMPORTS_MAX = 30;
const STATE_BYTES_MAX = 3_000;
/** Room for parts that are added without checking that they fit: `enriching`, `crashes`, one more range of `excluded`. */
const SPARE_BYTES = 200;
const CRASHES_KEPT_MAX = 8;
const REASON_BYTES_MAX = 160;

export function newState(
  skippedImports: readonly string[],
  {
    basis = "",
    serverStart = 0,
    shard,
  }: { basis?: string; serverStart?: number; shard?: string | undefined } = {},
): BatchState {
  return {
    shard,
    skippedImports: skippedImports.slice(0, SKIPPED_IMPORTS_MAX),
    attempts: 1,
    basis,
    serverStart,
    renewals: 0,
    excluded: new Map(),
    refused: new Map(),
    enriching: undefined,
    crashes: new Map(),
  };
}

/** The names must stay: a state may be read by a later version than the one that wrote it. */
interface StoredState {
  shard?: string;
  skippedImports?: string[];
  attempts: number;
  basis: string;
  serverStart?: number;
  renewals?: number;
  /** `3-7,9` */
  excluded?: string;
  reasons?: Record<string, string>;
  refused?: Record<string, number>;
  enriching?: number;
  crashes?: Record<string, number>;
}

/** Whether the state has room for everything that decides which rows a token stands for. */
export function fitsState(state: BatchState): boolean {
  const text = JSON.stringify(storedState({ ...state, enriching: undefined, crashes: new Map() }));
  return Buffer.byteLength(text) <= STATE_BYTES_MAX - SPARE_BYTES;
}

/** The state as JSON, at most 3 KB when it fits, with as many reasons as there is room for. */
export function formatState(state: BatchState): string {
  const stored = storedState(state);
  let room = STATE_BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...stored, reasons: {} }));
  const reasons: Record<string, string> = {};
  for (const [index, reason] of state.excluded) {
    const short = Buffer.from(reason).subarray(0, REASON_BYTES_MAX).toString();
    room -= Buffer.byteLength(`"${index}":${JSON.stringify(short)},`);
    if (room < 0) break;
    if (short !== "") reasons[index] = short;
  }
  return JSON.stringify({ ...stored, ...(state.excluded.size > 0 && { reasons }) });
}

function storedState(state: BatchState): StoredState {
  const { shard, skippedImports, attempts, basis, serverStart, renewals } = state;
  const { excluded, refused, enriching, crashes } = state;
  const most = [...crashes]
    .filter(([index]) => !excluded.has(index))
    .sort(([, a], [, b]) => b - a)
    .slice(0, CRASHES_KEPT_MAX);
  return {
    attempts,
    basis,
    ...(serverStart > 0 && { serverStart }),
    ...(renewals > 0 && { renewals }),
    ...(shard !== undefined && { shard }),
    ...(skippedImports.length > 0 && { skippedImports: [...skippedImports] }),
    ...(excluded.size > 0 && { excluded: formatRanges([...excluded.keys()]) }),
    ...(refused.size > 0 && { refused: Object.fromEntries(refused) }),
    ...(enriching !== undefined && { enriching }),
    ...(most.length > 0 && { crashes: Object.fromEntries(most) }),
  };
}

/** Consecutive chunks, inserted under a name of their own: `0`, `1`, ... and, for the halves of `0`, `0.0` and `0.1`. */
export interface Block {
  name: string;
  /** Index of the first chunk, and the one behind the last. */
  from: number;
  to: number;
}

/** The exclusive end of a refused block, which is written in halves; undefined for a block that is written whole. */
export function refusedEnd(
  { refused }: BatchState,
  { name, to }: Pick<Block, "name" | "to">,
): number | undefined {
  const isImplied = () => [...refused.keys()].some((other) => other.startsWith(`${name}.`));
  return refused.get(name) ?? (isImplied() ? to : undefined);
}

/** Drops the names that the new one implies. The end of a first block stays: the ends of its halves follow from it. */
export function addRefused(state: BatchState, { name, to }: Pick<Block, "name" | "to">): void {
  for (const other of state.refused.keys())
    if (other.includes(".") && name.startsWith(`${other}.`)) state.refused.delete(other);
  state.refused.set(name, to);
}

/** As one range they need little room in the state. Only for chunks of which nothing is stored. */
export function excludeChunks({ excluded }: BatchState, { from, to }: Pick<Block, "from" | "to">): void {
  for (let index = from; index < to; index++) if (!excluded.has(index)) excluded.set(index, REASON_NO_ROOM);
}

const REASON_NO_ROOM =
  "too many other records of the same batch failed; this record may be valid and can be retried";

/** The state for the next attempt. A chunk that was being enriched when the worker ended has one more crash. */
export function resumeState(text: string): BatchState {
  const stored = JSON.parse(text) as StoredState;
  const crashes = new Map(Object.entries(stored.crashes ?? {}).map(([index, n]) => [Number(index), n]));
  if (stored.enriching !== undefined) crashes.set(stored.enriching, (crashes.get(stored.enriching) ?? 0) + 1);
  return {
    shard: stored.shard,
    skippedImports: stored.skippedImports ?? [],
    attempts: stored.attempts + 1,
    basis: stored.basis,
    serverStart: stored.serverStart ?? 0,
    renewals: stored.renewals ?? 0,
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

/** A chunk of a batch as read, or why it cannot be read and as much of it as can. */
export type BatchChunk = {
  index: number;
  offset: number;
  value: Uint8Array;
} & Reading;

type Reading = { raw: RawChunk } | { unreadable: string; head: ChunkHead | undefined };

export type ReadableChunk = Extract<BatchChunk, { raw: RawChunk }>;

/** Never throws: a record that is no chunk is a fact about the log. */
export function readChunks({ records }: LogBatch): BatchChunk[] {
  return records.map(({ offset, value }, index) => ({ index, offset, value, ...readChunk(value) }));
}

export function isReadable(chunk: BatchChunk): chunk is ReadableChunk {
  return "raw" in chunk;
}

function readChunk(value: Uint8Array): Reading {
  try {
    const raw = decodeRawChunk(value);
    if (namesImport(raw)) return { raw };
    return { unreadable: "the import id is not a UUID", head: undefined };
  } catch (error) {
    const head = decodeChunkHead(value);
    const unreadable =
      "the record is not a chunk of a known format " +
      `(${error instanceof Error ? error.message : String(error)})`;
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
