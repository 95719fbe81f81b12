/** A hash, so that an event that is sent again under its key has the same id. ClickHouse computes it. */
export function eventIdSql(artifact: string, key: string): string {
  return `reinterpretAsUInt128(sipHash128(${artifact}, ${key}))`;
}

/** The key from the sender's `$unique_id`. The prefixes separate senders' keys from ours. */
export function sentKey(uniqueId: string): string {
  return `id ${uniqueId}`;
}

/** The key of an event without `$unique_id`: its line, from 1, in the import or chunk that `prefix` identifies. */
export function lineKey(prefix: string, line: number): string {
  return `line ${prefix} ${line}`;
}

/** `lineKey` in ClickHouse, from two SQL expressions. */
export function lineKeySql(prefix: string, line: string): string {
  return `concat('line ', ${prefix}, ' ', toString(${line}))`;
}

/** A version of an event is (receipt of its chunk in ms) times this, plus its line in the chunk: later receipts win. */
export const LINES_IN_CHUNK = 2 ** 20;

/** Parameters that name the versions of chunks by their receipt stamps, and a range that holds them all. */
export function versionsOf(stamps: readonly number[]) {
  return {
    stamps,
    fromVersion: leastVersion(Math.min(...stamps)),
    toVersion: leastVersion(Math.max(...stamps) + 1),
    linesInChunk: LINES_IN_CHUNK,
  };
}

/** The least version in a chunk received at `receiptStamp`, in ms. Text, because it exceeds 2^53. */
export function leastVersion(receiptStamp: number | bigint): string {
  return (BigInt(receiptStamp) * BigInt(LINES_IN_CHUNK)).toString();
}
