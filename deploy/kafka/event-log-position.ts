import type { Admin } from "kafkajs";

/** Where a group stands in a partition, and the range from there that a consumer said it would write. */
export interface Position {
  next: number | undefined;
  range: { last: number; note: string } | undefined;
}

/**
 * The committed offsets of the partitions with their metadata. The range that is being written is kept in that
 * metadata: one record of the broker holds both, so a rebalance cannot part them, whoever is given the partition reads
 * both, and moving on forgets the range in the same write. It is fenced like any commit: a consumer that lost the
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

/** What happened to the log where a group stands, of which Kafka says nothing to a consumer that goes on. */
export interface Gap {
  /** Offsets that were not read and are there no more. Undefined where the log began anew before them. */
  lost: { first: number; last: number } | undefined;
  /** Where the group stood, and where the log goes on. */
  expected: number;
  found: number;
}

/** Undefined when `found` is the record that was expected, or nothing was. */
export function gapAt(found: number, expected: number | undefined): Gap | undefined {
  if (expected === undefined || found === expected) return undefined;
  return { expected, found, lost: found > expected ? { first: expected, last: found - 1 } : undefined };
}

export function formatRange(range: { last: number; note: string } | undefined): string {
  return range === undefined ? "" : `${range.last} ${range.note}`;
}

function parseRange(metadata: string): Position["range"] {
  const match = /^(\d+) ([^]*)$/.exec(metadata);
  return match === null ? undefined : { last: Number(match[1]), note: match[2] ?? "" };
}
