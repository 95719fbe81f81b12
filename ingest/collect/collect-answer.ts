import type { IncomingHttpHeaders } from "node:http";

/** A request as handlers see it. */
export interface CollectRequest {
  /** Upper case. */
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The target before `?`, not decoded. */
  path: string;
  /** The target after `?`, not decoded, or empty. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Lower case, without port. */
  host: string;
  /** The client's address; empty when unknown. */
  address: string;
  /** The whole body, at most 64 KiB; empty when there is none. */
  body: Buffer;
}

/** One event of an answer. The server adds time, address, user agent, referer and domain. */
export interface LiveEvent {
  ownerId: string;
  artifact: { kind: "package" | "pixel"; id: string };
  version?: string | undefined;
  /** Replaces the `Referer` header: the pixel's `page`. */
  referrer?: string | undefined;
  /** As the request names it. */
  platform?: string | undefined;
  /** The program that the request is from, where its body says so. */
  client?: { name: string; version: string | undefined } | undefined;
  variables: ReadonlyMap<string, string>;
  /**
   * Objects that the client sent, as JSON on one line each. Enrichment reads their keys as those of an import line, but
   * those that name an event or an artifact. Of equal keys the first counts, after `variables`.
   */
  sent?: readonly string[];
}

export interface CollectAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Not sent in answer to HEAD; the headers are. */
  body?: Buffer | string;
  events: readonly LiveEvent[];
}

/** The answer of another server, passed on as it comes. */
export interface StreamedAnswer {
  status: number;
  /** With the length of the body, if it is known. */
  headers: Readonly<Record<string, string[]>>;
  /** Each part may be overwritten by the next one. */
  body: AsyncIterable<Uint8Array>;
  events: readonly LiveEvent[];
}

/** Asks another server for the answer. The signal aborts when the client has gone. */
export type RelayedAnswer = (signal: AbortSignal) => Promise<CollectAnswer | StreamedAnswer>;

/** The answer to a request that matches nothing. */
export const NOTHING: CollectAnswer = { status: 404, headers: {}, events: [] };

export function methodNotAllowed(...allowed: readonly string[]): CollectAnswer {
  return { status: 405, headers: { Allow: allowed.join(", ") }, events: [] };
}
