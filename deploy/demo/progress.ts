import type { EventImport } from "../../schemas/records/import-store.js";

/** A progress line for an import, rewritten in place. */
export interface Progress {
  sent: (bytes: number) => void;
  imported: (record: EventImport, expected: number) => void;
  /** Replaces the line by its last text. */
  finish: (text: string) => void;
}

const REWRITE_MS = 200;
const WIDTH = 78;

/** Rewrites the line at most five times a second on a terminal. Elsewhere only the last text is printed. */
export function openProgress(print: (text: string) => void, terminal = process.stdout.isTTY): Progress {
  let shownAt = -Infinity;
  const show = (text: string) => {
    if (!terminal || performance.now() - shownAt < REWRITE_MS) return;
    shownAt = performance.now();
    print(`\r  ${text.padEnd(WIDTH)}`);
  };
  return {
    sent: (bytes) => show(`sent ${(bytes / 1_000_000).toFixed(1)} MB`),
    imported: (record, expected) => {
      const finished = record.events_successfully_imported + record.events_failed_to_import;
      show(`imported ${finished} of ${expected}`);
    },
    finish: (text) => print(`${terminal ? "\r" : ""}  ${text.padEnd(terminal ? WIDTH : 0)}\n`),
  };
}
