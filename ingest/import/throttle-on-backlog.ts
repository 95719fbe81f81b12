import { pause } from "../../schemas/async/pause.js";

const PROBE_MS = 20;
/** As many records as a batch of the express lane takes. */
const RECORDS_MAX = 8;
/** Sixteen uploads of one owner then send 32 MiB a second, which takes a tenth of a core. */
const BACKLOG_MS_MAX = 250;

export interface BacklogDependencies {
  /** Records of the express lane that wait for enrichment. Throws where the log cannot be read. */
  waiting: () => number;
  /** In milliseconds; only differences count. */
  now?: () => number;
  pause?: (ms: number) => Promise<unknown>;
}

/**
 * Waits while more than a batch of short work waits for enrichment, for 250 ms at most. Uploads have a higher priority
 * than enrichment on the same machine. Without this wait, many at once would leave it no processor time. A log that cannot
 * be read now is not waited for: the next append says so to the sender.
 */
export async function throttleOnBacklog({
  waiting,
  now = () => performance.now(),
  pause: wait = pause,
}: BacklogDependencies): Promise<void> {
  const until = now() + BACKLOG_MS_MAX;
  while (now() < until && isBehind(waiting)) await wait(PROBE_MS);
}

function isBehind(waiting: () => number): boolean {
  try {
    return waiting() > RECORDS_MAX;
  } catch {
    return false;
  }
}
