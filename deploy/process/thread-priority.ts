import { constants, getPriority, setPriority } from "node:os";

const LOWERED = constants.priority.PRIORITY_LOW;

/**
 * Lowers the priority of the calling thread, and of threads that it starts later, to the lowest: 15 parts of a core to
 * the 1,024 of threads that answer requests. At 10, which has 110 parts, several such threads together took a third of
 * the core from redirects. Called by enrichment and the embedded ClickHouse. Does nothing outside Linux, where the
 * priority belongs to the whole process, nor where the priority is as low already: only root may raise it.
 */
export function lowerPriority(): void {
  if (process.platform === "linux" && getPriority() < LOWERED) setPriority(LOWERED);
}
