import type { FetchedIndex } from "../../../ingest/collect/python/fetch-index.js";
import type { SourceKind } from "../../../schemas/contracts/source.js";
import type { Ask } from "./registries/registry.js";

export interface FewerWanted {
  durationMs: number;
  /** A sentence. */
  reason: string;
}

const FEWER_MS = 60_000;
const FEWER_MS_MAX = 24 * 3_600_000;

/**
 * Whether the registry wants fewer requests, and for how long. GitHub says 403 for that as well, and counts down: where
 * requests remain, or what was asked for is optional, a 403 is about that thing alone.
 */
export function fewerWanted(
  { status, headers }: FetchedIndex,
  { kind, ask }: { kind: SourceKind; ask: Ask },
): FewerWanted | undefined {
  const isUsedUp = headers["x-ratelimit-remaining"] === "0";
  const said = retryAfter(headers);
  const isRefused = status === 403 && !ask.isOptional && headers["x-ratelimit-remaining"] === undefined;
  const isAsked = status >= 400 && status !== 404 && said !== undefined;
  if (!(status === 429 || isUsedUp || isRefused || isAsked)) return undefined;
  const durationMs = Math.min(said ?? FEWER_MS, FEWER_MS_MAX);
  if (status >= 500) return { durationMs, reason: answeredWith(kind, status) };
  return { durationMs, reason: `${kind} is limiting requests${status < 400 ? "" : ` (${status})`}.` };
}

export function answeredWith(kind: SourceKind, status: number): string {
  return `${kind} returned status ${status}.`;
}

/** Seconds or a date (RFC 9110, 10.2.3), or GitHub's time at which its limit ends. */
function retryAfter(headers: FetchedIndex["headers"]): number | undefined {
  const text = headers["retry-after"];
  if (text !== undefined) return /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : untilDate(Date.parse(text));
  if (headers["x-ratelimit-remaining"] !== "0") return undefined;
  return untilDate(Number(headers["x-ratelimit-reset"]) * 1_000);
}

function untilDate(time: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
