/**
 * The receipt stamps of one import, in milliseconds: they begin at the one that PostgreSQL gave and go on with the time
 * that passes. The clock of this process has no part in it, because it can be set back, or differ from another one's.
 */
export function receiptClock(firstStamp: number, elapsedMs = () => performance.now()): () => number {
  const begun = elapsedMs();
  return () => firstStamp + Math.floor(elapsedMs() - begun);
}
