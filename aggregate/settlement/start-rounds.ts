import { pause } from "../../schemas/async/pause.js";

export interface Rounds {
  /** How long to wait between rounds. */
  roundMs?: number | undefined;
  /** Called for every round that failed; the next one tries again. */
  onFailure: (error: unknown) => void;
}

const ROUND_MS = 1_000;
/** How many rounds to wait after a store was down. */
const PAUSE_FACTOR = 5;

/** Runs rounds, one after the other, until disposed of. A round ends soon after its signal aborts. */
export function startRounds(
  round: (signal: AbortSignal) => Promise<void>,
  { roundMs = ROUND_MS, onFailure }: Rounds,
): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const finished = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await finished;
    },
  };

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await round(signal);
      } catch (error) {
        onFailure(error);
        await pause(roundMs * PAUSE_FACTOR, { signal });
      }
      await pause(roundMs, { signal });
    }
  }
}
