import type { LogBatch } from "../../schemas/records/event-log.js";
import { isUuid } from "../../schemas/formats.js";
import {
  decodeChunkHead,
  decodeRawChunk,
  type ChunkHead,
  type RawChunk,
} from "../../schemas/records/raw-chunk.js";

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
