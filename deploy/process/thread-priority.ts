import { readdirSync, writeFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/**
 * Has the calling thread, and what it starts from now on, leave the processors to threads that answer requests: those
 * need little, but at once. What waits for nobody takes what is left, which is nearly all of it. On Linux, where
 * priorities are of threads; elsewhere this would slow the whole process down, and does nothing.
 */
export function yieldToRequests(): void {
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_LOW);
}

/**
 * Has the helpers of this process do so: V8's, which collect garbage and compile, and libuv's, which compress and read
 * files. For the main thread, before it starts any other. Beside an upload they are eight that would each take as much
 * of a processor as one that answers: of 5,000 redirects a second, up to 8 % then waited for more than 20 ms on two cores.
 */
export function haveHelpersYield(): void {
  if (process.platform !== "linux") return;
  try {
    for (const thread of readdirSync("/proc/self/task").map(Number))
      if (thread !== process.pid) lowerPriority(thread);
  } catch {
    // No /proc here, or a thread that has ended by now: the rest do without.
  }
}

function lowerPriority(thread: number): void {
  const { PRIORITY_BELOW_NORMAL } = constants.priority;
  if (getPriority(thread) < PRIORITY_BELOW_NORMAL) setPriority(thread, PRIORITY_BELOW_NORMAL);
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
