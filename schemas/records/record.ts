/** A record for an answer: an optional field without a value is absent, never null. */
export function withoutNulls<Record extends object>(row: {
  [Field in keyof Record]: Record[Field] | null;
}): Record {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Record;
}
