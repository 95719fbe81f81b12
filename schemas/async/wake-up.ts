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
    const over = new AbortController();
    this.endPause = () => over.abort();
    signal.addEventListener("abort", this.endPause, { once: true });
    if (!signal.aborted) await pause(this.isRung ? 0 : durationMs, { signal: over.signal });
    signal.removeEventListener("abort", this.endPause);
    this.isRung = false;
  }
}
