import { LRUCache } from "lru-cache";
import type { Logger } from "pino";

const MINUTE_MS = 60_000;
const IDS_MAX = 10_000;

/**
 * Records the use of additional tokens or sessions, at most once a minute for each, without delaying the request. A
 * failure is logged; the next use tries again.
 */
export class LastUsed {
  private readonly written = new LRUCache<string, true>({ max: IDS_MAX, ttl: MINUTE_MS });

  constructor(private readonly write: (id: string) => Promise<void>) {}

  note(id: string, log: Logger): void {
    if (this.written.has(id)) return;
    this.written.set(id, true);
    this.write(id).catch((error: unknown) =>
      log.warn({ err: error, id }, "the last use of a token or session could not be recorded"),
    );
  }
}
