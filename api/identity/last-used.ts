import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { updateLastUsed } from "../stores/accounts/api-tokens.js";
import type { Postgres } from "../stores/query.js";

const MINUTE_MS = 60_000;
const TOKENS_MAX = 10_000;

/**
 * Records the use of additional tokens, at most once a minute for each token, without delaying the request. A failure
 * is logged; the next use tries again.
 */
export class LastUsed {
  private readonly written = new LRUCache<string, true>({ max: TOKENS_MAX, ttl: MINUTE_MS });

  constructor(private readonly pg: Postgres) {}

  note(tokenId: string, log: Logger): void {
    if (this.written.has(tokenId)) return;
    this.written.set(tokenId, true);
    updateLastUsed(this.pg, tokenId).catch((error: unknown) =>
      log.warn({ err: error, tokenId }, "the last use of a token could not be recorded"),
    );
  }
}
