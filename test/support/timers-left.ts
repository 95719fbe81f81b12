/**
 * Begins to watch a fake clock. The function says how many timers of this delay (ms) were started since and not cleared, and
 * ends the watch: it must be called while the clock is fake. `vi.getTimerCount` has those of others as well: what an earlier
 * file of the same process left behind begins timers on the fake clock, too. Spies of vitest would bring the fake clock back
 * when a later test restores all of them.
 */
export function timersLeft(delayMs: number): () => number {
  const fake = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  const started = new Set<unknown>();
  const cleared = new Set<unknown>();
  const setTimeout = (work: () => void, ms?: number) => {
    const timer = fake.setTimeout(work, ms);
    if (ms === delayMs) started.add(timer);
    return timer;
  };
  const clearTimeout = (timer?: NodeJS.Timeout) => {
    cleared.add(timer);
    fake.clearTimeout(timer);
  };
  // The clock is recognised by what stands on its functions.
  Object.assign(globalThis, {
    setTimeout: Object.assign(setTimeout, fake.setTimeout),
    clearTimeout: Object.assign(clearTimeout, fake.clearTimeout),
  });
  return () => {
    Object.assign(globalThis, fake);
    if (started.size === 0) throw new Error(`no timer of ${delayMs} ms was started`);
    return [...started].filter((timer) => !cleared.has(timer)).length;
  };
}
