import type { IncomingHttpHeaders } from "node:http";

/** What a handler is asked. */
export interface CollectRequest {
  /** Upper case; HEAD is given as HEAD. */
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The target up to `?`, not decoded. */
  path: string;
  /** Behind `?`, not decoded, or empty. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Lower case, without port. */
  host: string;
  /** Read whole and bounded (64 KiB) where there is one, else empty. */
  body: Buffer;
}

/** One event that the answer causes; the collector adds time, address, user agent, referer and domain. */
export interface LiveEvent {
  ownerId: string;
  artifact: { kind: "package" | "pixel"; id: string };
  version?: string | undefined;
  /** In place of the `Referer` header: the pixel's `page`. */
  referrer?: string | undefined;
  platform?: string | undefined;
  variables: ReadonlyMap<string, string>;
}

export interface CollectAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Of an answer to HEAD the headers are kept and this is dropped. */
  body?: Buffer | string;
  events: readonly LiveEvent[];
}

/** Nothing here answers to that. */
export const NOTHING: CollectAnswer = { status: 404, headers: {}, events: [] };

/** There is something, but not for that method. */
export function methodNotAllowed(...allowed: readonly string[]): CollectAnswer {
  return { status: 405, headers: { Allow: allowed.join(", ") }, events: [] };
}
