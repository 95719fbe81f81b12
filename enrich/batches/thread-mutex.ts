import { pause } from "./retry-while-down.js";

/** One worker of a process at a time may hold a record: whatever ends the process then has one suspect. */
export interface HoldTurn {
  /** Resolves when it is this worker's turn, at once where it is already, or without it when `signal` says so. */
  take(signal: AbortSignal): Promise<void>;
  /** Does nothing while it is somebody else's. */
  giveBack(): void;
}

export const HOLD_TURN_BYTES = Int32Array.BYTES_PER_ELEMENT;

const FREE = 0;
const LOOK_EVERY_MS = 50;

/**
 * The turn of worker `index` among those that were given the same memory, all zeros at first. A worker that ended
 * cannot give it back: whoever started it does.
 */
export function sharedHoldTurn(memory: SharedArrayBuffer, index: number): HoldTurn {
  const holder = new Int32Array(memory);
  const mine = index + 1;
  const isMine = () => {
    const before = Atomics.compareExchange(holder, 0, FREE, mine);
    return before === FREE || before === mine;
  };
  return {
    async take(signal) {
      while (!signal.aborted && !isMine()) await pause(LOOK_EVERY_MS, signal);
    },
    giveBack: () => void Atomics.compareExchange(holder, 0, mine, FREE),
  };
}
