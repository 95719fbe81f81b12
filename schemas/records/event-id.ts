/**
 * The id of an event is a hash of its artifact and its key, so that an event that is sent again under its key has the
 * same id. ClickHouse computes it when it stores the row.
 */
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
