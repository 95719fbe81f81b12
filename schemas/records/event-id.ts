/**
 * The id of an event is a hash of its artifact and its key: an event that is sent again under its key gets the same id.
 * ClickHouse computes it as it stores the row.
 */
export function eventIdSql(artifact: string, key: string): string {
  return `reinterpretAsUInt128(sipHash128(${artifact}, ${key}))`;
}

/** The key that a sender gave, `$unique_id`. The prefixes keep senders' keys and ours apart. */
export function sentKey(uniqueId: string): string {
  return `id ${uniqueId}`;
}

/** The key of an event without one: its line, 1-based, of the import or chunk that `prefix` names among all. */
export function lineKey(prefix: string, line: number): string {
  return `line ${prefix} ${line}`;
}

/** `lineKey` as ClickHouse computes it of two SQL expressions. */
export function lineKeySql(prefix: string, line: string): string {
  return `concat('line ', ${prefix}, ' ', toString(${line}))`;
}
