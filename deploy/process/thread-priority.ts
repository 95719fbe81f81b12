import { constants, setPriority } from "node:os";

/**
 * Lets the calling thread, and those that it starts from now on, run after the threads that answer requests. For
 * enrichment and the embedded ClickHouse, which take the processor time that requests leave. On Linux, where each
 * thread has its own priority; elsewhere it would slow the whole process down, and does nothing.
 */
export function lowerPriority(): void {
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}
