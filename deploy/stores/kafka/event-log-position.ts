import type { Admin } from "kafkajs";

/** A group's position in a partition, and the range from there that a consumer will write. */
export interface Position {
  next: number | undefined;
  range: RecordedRange | undefined;
}

export interface RecordedRange {
  last: number;
  /** The timestamp of the last record. */
  lastTime: string;
  note: string;
}

/**
 * The committed offsets of the partitions with their metadata. The range that is being written is kept in that
 * metadata: one record of the broker holds both, so a rebalance cannot part them, the next consumer of the partition
 * reads both, and moving on forgets the range in the same write. It is fenced like any commit: a consumer that lost the
 * partition can record nothing any more.
 */
export async function readPositions(
  admin: Admin,
  { groupId, topic }: { groupId: string; topic: string },
): Promise<Map<number, Position>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return new Map(found?.partitions.map((committed) => [committed.partition, positionOf(committed)]));
}

function positionOf({ offset, metadata }: { offset: string; metadata: string | null }): Position {
  const next = Number(offset);
  return { next: next < 0 ? undefined : next, range: parseRange(metadata ?? "") };
}

export function formatRange(range: RecordedRange | undefined): string {
  if (range === undefined) return "";
  const { last, lastTime, note } = range;
  return `${last}@${lastTime} ${note}`;
}

function parseRange(metadata: string): RecordedRange | undefined {
  const [, last, lastTime = "", note = ""] = /^(\d+)@(-?\d+) ([^]*)$/.exec(metadata) ?? [];
  return last === undefined ? undefined : { last: Number(last), lastTime, note };
}
