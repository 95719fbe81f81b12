import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const PRIORITY = -10;
const AUTOGROUP = "/proc/self/autogroup";

/**
 * Has this thread run as soon as it is due, until disposed of: callers come from other machines, and must not wait for
 * a processor behind the program that they ask. Only root may; for others it does nothing, and latencies hold such
 * waits as well. See sched(7), "The autogroup feature".
 */
export function takePrecedence(): Disposable {
  const before = { priority: getPriority(), autogroup: readAutogroup() };
  attempt(() => setPriority(PRIORITY));
  attempt(() => writeFileSync(AUTOGROUP, String(PRIORITY)));
  return {
    [Symbol.dispose]() {
      attempt(() => setPriority(before.priority));
      attempt(() => writeFileSync(AUTOGROUP, before.autogroup));
    },
  };
}

function readAutogroup(): string {
  try {
    return /nice (-?\d+)/.exec(readFileSync(AUTOGROUP, "utf8"))?.[1] ?? "0";
  } catch {
    return "0";
  }
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // Not root, or a system without it.
  }
}
