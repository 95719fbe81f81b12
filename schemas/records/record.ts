/** A record as it goes out: an optional field that holds nothing is absent, never null. */
export function withoutNulls<Record extends object>(row: {
  [Field in keyof Record]: Record[Field] | null;
}): Record {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Record;
}
