import { constants, setPriority } from "node:os";

/**
 * Lowers the priority of the calling thread, and of threads that it starts later, below that of threads that answer
 * requests. Called by enrichment and the embedded ClickHouse. Does nothing outside Linux, where the priority belongs to
 * the whole process.
 */
export function lowerPriority(): void {
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}
