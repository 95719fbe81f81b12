/** Counts the leading records whose sizes add up to at most `bytesMax`. The first record always counts. */
export function countWithinBytes<Value extends Uint8Array | null>(
  records: readonly { value: Value }[],
  { bytesMax, sizeOf = lengthOf }: BatchSize,
): number {
  let bytes = 0;
  const end = records.findIndex(({ value }, index) => {
    bytes += value === null ? 0 : sizeOf(value);
    return index > 0 && bytes > bytesMax;
  });
  return end < 0 ? records.length : end;
}

interface BatchSize {
  bytesMax: number;
  /** The bytes that a record counts for. */
  sizeOf?: ((value: Uint8Array) => number) | undefined;
}

function lengthOf({ length }: Uint8Array): number {
  return length;
}
