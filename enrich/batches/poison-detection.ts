import type { HoldTurn } from "./thread-mutex.js";
import type { RangeNote } from "./range-note.js";

/** Earlier beginnings may have been cut short by anything; from this one on, each record is named before it is enriched. */
const CAREFUL_FROM = 3;
/** So often in a row may the program end while it enriches one record before that is taken for the reason. */
const DEATHS_MAX = 5;

/** Which record of a range is to blame when the program ends. */
export interface Suspicion {
  /** Called before a record is enriched: a death from here on names it. Costs a flush where it is needed at all. */
  hold(index: number): Promise<void>;
  /** The record was enriched, or threw: whatever ended the program before, it was not this. */
  acquit(index: number): void;
  /** The record that is held is not to blame for what comes now. */
  release(): Promise<void>;
  /** Why a record must be set aside that nobody could throw an error for. */
  deadly(index: number): string | undefined;
}

export interface SuspicionDependencies {
  note: RangeNote;
  save: () => Promise<void>;
  turn: HoldTurn;
  /** Once aborted, no record is held any more: whoever ends the program now wanted it to end. */
  stopping: AbortSignal;
}

export function openSuspicion({ note, save, turn, stopping }: SuspicionDependencies): Suspicion {
  const careful = note.begun >= CAREFUL_FROM;
  return {
    async hold(index) {
      if (!careful) return;
      await turn.take(stopping);
      if (stopping.aborted) return turn.giveBack();
      note.at = index;
      await save();
    },
    acquit: (index) => void note.deaths.delete(index),
    async release() {
      if (note.at === undefined) return;
      note.at = undefined;
      await save();
      turn.giveBack();
    },
    deadly(index) {
      const deaths = note.deaths.get(index) ?? 0;
      return deaths < DEATHS_MAX ? undefined : `the program ended ${deaths} times while it was enriched`;
    },
  };
}
