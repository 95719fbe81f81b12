/** One line of a terminal that moves. */
export interface ProgressBar {
  /** `share` from 0 to 1; undefined where the whole is not known. */
  show: (label: string, progress: { share?: number | undefined; detail: string }) => void;
  /** Clears the line, so that other text can be written. */
  clear: () => void;
}

const REDRAW_MS = 100;
const WIDTH = 24;

/** On a terminal only: a script gets nothing. */
export function openProgressBar(output: NodeJS.WriteStream, isShown = output.isTTY): ProgressBar {
  if (!isShown) return { show: () => undefined, clear: () => undefined };
  let drawnAt = -Infinity;
  return {
    show(label, { share, detail }) {
      const now = performance.now();
      if (now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      output.write(`\r${lineOf(label, { share, detail }).slice(0, (output.columns || 80) - 1)}${CLEAR_REST}`);
    },
    clear: () => output.write(`\r${CLEAR_REST}`),
  };
}

/** ECMA-48, 8.3.41. */
const CLEAR_REST = "\u001b[K";

function lineOf(label: string, { share, detail }: { share?: number | undefined; detail: string }): string {
  if (share === undefined) return `${label}  ${detail}`;
  const whole = Math.min(1, Math.max(0, share));
  const filled = Math.round(whole * WIDTH);
  const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
  return `${label} ${bar} ${String(Math.floor(whole * 100)).padStart(3)} %  ${detail}`;
}
