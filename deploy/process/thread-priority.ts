import { constants, getPriority, setPriority } from "node:os";

const LOWERED = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the priority of the calling thread, and of threads that it starts later, below that of threads that answer
 * requests. Called by enrichment and the embedded ClickHouse. Does nothing outside Linux, where the priority belongs to
 * the whole process, nor where the priority is as low already: only root may raise it.
 */
export function lowerPriority(): void {
  if (process.platform === "linux" && getPriority() < LOWERED) setPriority(LOWERED);
}
