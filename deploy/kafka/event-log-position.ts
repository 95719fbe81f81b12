import type { Admin } from "kafkajs";

/** Where a group stands in a partition, and the range from there that a consumer said it would write. */
export interface Position {
  next: number | undefined;
  range: { last: number; note: string } | undefined;
}

/**
 * The committed offset of a partition with its metadata. The range that is being written is kept in that metadata: one
 * record of the broker holds both, so a rebalance cannot part them, whoever is given the partition reads both, and
 * moving on forgets the range in the same write. It is fenced like any commit: a consumer that lost the partition can
 * record nothing any more.
 */
export async function readPosition(
  admin: Admin,
  { groupId, topic, partition }: { groupId: string; topic: string; partition: number },
): Promise<Position> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const committed = found?.partitions.find((each) => each.partition === partition);
  const next = Number(committed?.offset ?? -1);
  return { next: next < 0 ? undefined : next, range: parseRange(committed?.metadata ?? "") };
}

export function formatRange(range: { last: number; note: string } | undefined): string {
  return range === undefined ? "" : `${range.last} ${range.note}`;
}

function parseRange(metadata: string): Position["range"] {
  const match = /^(\d+) ([^]*)$/.exec(metadata);
  return match === null ? undefined : { last: Number(match[1]), note: match[2] ?? "" };
}
