import { SMALL_IMPORT_CHUNKS } from "../../schemas/records/import-line.js";
import { partitionsOf } from "../../schemas/records/event-log.js";

/** As many as the reader of a partition takes for one large insert, 24 MiB. One more would be an insert by itself. */
const CHUNKS_IN_A_ROW = 47;

export interface ChunkedImport {
  ownerId: string;
  /** Whether its first chunks are known not to be all of it. */
  isLarge: boolean;
}

/**
 * The first chunks go on the express queue, in one partition, so that the small imports of an owner share
 * inserts. The rest goes on the bulk queue, over half of its partitions, which leaves some without backlog to
 * other owners. All of a large import goes there: a small one would wait for the first chunks of many.
 */
export function choosePartitions(
  partitions: number,
  { ownerId, isLarge }: ChunkedImport,
): (sequence: number) => number {
  const express = partitionsOf("express", partitions);
  const bulk = partitionsOf("bulk", partitions);
  const queue = bulk.length === 0 ? express : bulk;
  const share = Math.ceil(queue.length / 2);
  const expressChunks = isLarge ? 0 : SMALL_IMPORT_CHUNKS;
  // The end of an id is random. Its beginning is the time, which owners of the same minute share.
  const first = Number.parseInt(ownerId.slice(-8), 16) || 0;
  return (sequence) => {
    if (sequence < expressChunks) return nth(express, first);
    return nth(queue, first + (Math.floor((sequence - expressChunks) / CHUNKS_IN_A_ROW) % share));
  };
}

function nth(partitions: readonly number[], index: number): number {
  return partitions[index % partitions.length] ?? 0;
}
