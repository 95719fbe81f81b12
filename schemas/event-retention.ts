import { DAY_MS, dateAt } from "./date-range.js";

/** How long events are kept, as enrichment and dry runs see it. */
export interface EventRetention {
  /** Absent: for ever. */
  days?: number | undefined;
  /** Events before this day (`YYYY-MM-DD`) were removed once: these days stay closed, also under a longer retention. */
  removedBefore?: string | undefined;
}

/**
 * Events go by whole months, which cost ClickHouse nothing to remove, so they are kept for at least `days`.
 */
export function keptFrom(now: number, days: number): string {
  return `${dateAt(Math.max(0, now - days * DAY_MS)).slice(0, 7)}-01`;
}

/** Lines of a month that were received before its refusal are enriched and settled by then. */
const REMOVAL_DELAY_DAYS = 2;

export function removableBefore(now: number, days: number): string {
  return keptFrom(now, days + REMOVAL_DELAY_DAYS);
}

export type OldestTime = (receivedAt: number) => number;

/** It depends on the time of receipt and not on the clock, so that a line that is read again is judged the same. */
export function oldestTime({ days, removedBefore }: EventRetention): OldestTime {
  const closed = removedBefore === undefined ? 0 : Date.parse(removedBefore);
  if (days === undefined) return () => closed;
  return (receivedAt) => Math.max(closed, Date.parse(keptFrom(receivedAt, days)));
}

export const NO_OLDEST_TIME: OldestTime = () => 0;
