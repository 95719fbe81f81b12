/** Rows that were removed because they were kept for long enough; `bytes` as far as they are known. */
export interface Removed {
  rows: number;
  bytes: number;
}

export const NOTHING_REMOVED: Removed = { rows: 0, bytes: 0 };

export function addRemoved(parts: readonly Removed[]): Removed {
  return parts.reduce(
    (sum, { rows, bytes }) => ({ rows: sum.rows + rows, bytes: sum.bytes + bytes }),
    NOTHING_REMOVED,
  );
}
