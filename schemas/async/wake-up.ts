import { pause } from "./pause.js";

/** Lets one part of a process end the pauses of another, in the next turn: a loop that rings itself blocks nothing. */
export class WakeUp {
  private isRung = false;
  private endPause = (): void => undefined;

  /** Ends the pause under way, or else the next one at once. */
  ring(): void {
    this.isRung = true;
    setImmediate(this.endPause);
  }

  /** Resolves after this time, when it is rung, or when the signal aborts. */
  async pause(durationMs: number, { signal }: { signal: AbortSignal }): Promise<void> {
    await endablePause(this.isRung ? 0 : durationMs, signal, (end) => (this.endPause = end));
    this.isRung = false;
  }
}

/** A count that all threads of a process share, never below 0. */
export class SharedCount {
  private readonly cells: Int32Array;

  constructor(readonly memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.cells = new Int32Array(memory);
  }

  get value(): number {
    return Atomics.load(this.cells, 0);
  }

  add(change: number): void {
    const before = Atomics.add(this.cells, 0, change);
    if (before === 0) Atomics.notify(this.cells, 0);
  }

  /** Resolves when the count rises from 0, and else after this time or as soon as the signal aborts. */
  async untilRisen(durationMs: number, { signal }: { signal: AbortSignal }): Promise<void> {
    const { async: isZero, value: risen } = Atomics.waitAsync(this.cells, 0, 0, durationMs);
    await endablePause(durationMs, signal, (end) => isZero && void risen.then(end));
  }
}

async function endablePause(
  durationMs: number,
  signal: AbortSignal,
  begin: (end: () => void) => void,
): Promise<void> {
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener("abort", end, { once: true });
  begin(end);
  if (!signal.aborted) await pause(durationMs, { signal: over.signal });
  signal.removeEventListener("abort", end);
}
