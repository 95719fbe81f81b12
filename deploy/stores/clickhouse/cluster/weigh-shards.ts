/** Whether a shard takes inserts, and how much room it has. */
export interface ShardState {
  /** Servers that answer and are not read-only. */
  servers: number;
  /** Servers that must have a row. */
  quorum: number;
  /** The room on the fullest of the servers. */
  freeBytes: number;
}

/**
 * Chooses the shard of a new range: each that has its quorum of servers as often as it has room. Where none has, those
 * that lack fewest servers. `random` is from 0 to below 1.
 */
export function weighShards<Weighed extends ShardState>(
  shards: readonly Weighed[],
  random: number,
): Weighed | undefined {
  const lacking = ({ servers, quorum }: ShardState) => Math.max(0, quorum - servers);
  const least = Math.min(...shards.map(lacking));
  const able = shards.filter((shard) => lacking(shard) === least);
  const weightOf = ({ freeBytes }: ShardState) => Math.max(1, freeBytes);
  let left = random * able.reduce((sum, shard) => sum + weightOf(shard), 0);
  return able.find((shard) => (left -= weightOf(shard)) < 0) ?? able.at(-1);
}
