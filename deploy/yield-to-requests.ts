import { writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Has the calling thread, and what it starts from now on, leave the processors to threads that answer requests: those
 * need little, but at once. What waits for nobody takes what is left, which is nearly all of it. On Linux, where
 * priorities are of threads; elsewhere this would slow the whole process down, and does nothing.
 */
export function yieldToRequests(): void {
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_LOW);
}

/**
 * Has this process do so, and all its session: Linux shares processors out among sessions before it looks at the
 * threads in them, where `kernel.sched_autogroup_enabled` is on (sched(7), "The autogroup feature").
 */
export function yieldSessionToRequests(): void {
  if (process.platform !== "linux") return;
  const { PRIORITY_BELOW_NORMAL } = constants.priority;
  setPriority(PRIORITY_BELOW_NORMAL);
  try {
    writeFileSync("/proc/self/autogroup", String(PRIORITY_BELOW_NORMAL));
  } catch {
    // A kernel without the feature, or a container that hides it: then the priorities of threads count.
  }
}
