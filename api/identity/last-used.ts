import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { updateLastUsed } from "../stores/accounts/api-tokens.js";
import type { Postgres } from "../stores/query.js";

const MINUTE_MS = 60_000;
const TOKENS_MAX = 10_000;

/**
 * Writes down that additional tokens are used: at most once a minute for each, beside the request and never in its
 * way. A failure is logged and forgotten: the next use writes again.
 */
export class LastUsed {
  private readonly written = new LRUCache<string, true>({ max: TOKENS_MAX, ttl: MINUTE_MS });

  constructor(private readonly pg: Postgres) {}

  note(tokenId: string, log: Logger): void {
    if (this.written.has(tokenId)) return;
    this.written.set(tokenId, true);
    updateLastUsed(this.pg, tokenId).catch((error: unknown) =>
      log.warn({ err: error, tokenId }, "the use of a token could not be written down"),
    );
  }
}
