import { readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const PRIORITY = -10;
const AUTOGROUP = "/proc/self/autogroup";

/**
 * Raises the priority of this process until disposed of. Real callers are on other machines and do not wait for a core
 * that the measured program uses. Only root may; for others this does nothing, and latencies include such waits. See
 * sched(7), "The autogroup feature".
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
