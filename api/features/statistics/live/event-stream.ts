import { PassThrough } from "node:stream";
import type { LatestEvent } from "../../../../aggregate/queries/events/latest-events.js";
import type { LiveFeeds } from "./live-feeds.js";

/** Bytes that wait for a reader. One who leaves more is cut off. */
const WAITING_MAX = 256 * 1024;
const CHECK_MS = 5_000;
/** After a break, browsers ask again after this time. */
const RETRY_MS = 5_000;

export interface LiveScope {
  ownerId: string;
  /** Of the artifacts that the reader may see, by id. */
  names: ReadonlyMap<string, string>;
}

interface Streaming {
  feeds: LiveFeeds;
  scope: LiveScope;
  /** Rejects once the reader may see nothing any more. */
  readScope: () => Promise<LiveScope>;
  /** Aborts when the reader leaves. */
  left: AbortSignal;
  cutOff: () => void;
  checkMs?: number;
}

/**
 * What arrives, as server-sent events, one message each. Every five seconds the reader's rights are read again, and a
 * comment is sent. Ends when they end or cannot be read, and when the feeds close.
 */
export function openEventStream({
  feeds,
  scope,
  readScope,
  left,
  cutOff,
  checkMs = CHECK_MS,
}: Streaming): PassThrough {
  const body = new PassThrough();
  const send = (text: string) => {
    if (!body.writable) return;
    if (!body.write(text) && body.writableLength > WAITING_MAX) cutOff();
  };
  const follower = {
    names: scope.names,
    onEvents: (events: readonly LatestEvent[]) => {
      for (const event of events.toReversed()) send(messageOf(event, follower.names));
    },
  };
  const followed = feeds.follow(scope.ownerId, follower);
  let isChecking = false;
  const check = async () => {
    if (isChecking) return end();
    isChecking = true;
    try {
      follower.names = (await readScope()).names;
      isChecking = false;
      send(":\n\n");
    } catch {
      end();
    }
  };
  const timer = setInterval(() => void check(), checkMs);
  const end = () => {
    clearInterval(timer);
    followed[Symbol.dispose]();
    body.end();
  };
  for (const over of [left, feeds.closed]) over.addEventListener("abort", end, { once: true });
  body.once("close", () => feeds.closed.removeEventListener("abort", end));
  send(`retry: ${RETRY_MS}\n\n`);
  if (left.aborted || feeds.closed.aborted) end();
  return body;
}

function messageOf(event: LatestEvent, names: ReadonlyMap<string, string>): string {
  return `data: ${JSON.stringify({ ...event, name: names.get(event.artifact_id) ?? "" })}\n\n`;
}
