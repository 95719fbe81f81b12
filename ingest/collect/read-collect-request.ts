import type { IncomingMessage, IncomingHttpHeaders } from "node:http";
import { gunzipSync } from "node:zlib";
import { parseAuthority, readForwarded } from "../../schemas/read-forwarded.js";

export const COLLECT_BODY_BYTES_MAX = 64 * 1024;

export class BodyTooLarge extends Error {}

const NO_BODY = Buffer.alloc(0);

/** Reads a request without its body. Behind a trusted proxy, the host is the one that the client sees. */
export function readCollectRequest(
  incoming: IncomingMessage,
  trustsProxy: (address: string) => boolean,
): CollectRequest {
  const { method = "", headers } = incoming;
  const { authority = headers.host ?? "", target } = splitTarget(incoming.url ?? "/");
  const questionMark = target.indexOf("?");
  const path = questionMark < 0 ? target : target.slice(0, questionMark);
  const query = questionMark < 0 ? "" : target.slice(questionMark + 1);
  const forwarded = readForwarded(incoming, trustsProxy);
  return {
    method,
    target,
    path,
    query,
    headers,
    host: withoutDot(forwarded.host?.hostname ?? hostOf(authority)),
    address: forwarded.address ?? "",
    body: NO_BODY,
  };
}

/** A request target may be a whole URL (RFC 9112, 3.2.2), whose host then counts. */
function splitTarget(url: string): { authority?: string; target: string } {
  if (url.startsWith("/")) return { target: url };
  const [, authority, rest = ""] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith("/") ? rest : `/${rest}` };
}

/** Most hosts are spelt plainly; parsing them as the others takes ten times as long. */
function hostOf(authority: string): string {
  const [, plain] = /^([a-z\d-]+(?:\.[a-z\d-]+)*\.?)(?::\d*)?$/.exec(authority) ?? [];
  return plain ?? parseAuthority(authority)?.hostname ?? authority.toLowerCase();
}

/** Of a fully qualified name. */
function withoutDot(host: string): string {
  return host.replace(/\.$/, "");
}

/** Unpacks gzip. @throws BodyTooLarge as soon as the limit is exceeded, and the error of a broken connection */
export async function readSmallBody(incoming: IncomingMessage): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > COLLECT_BODY_BYTES_MAX) throw new BodyTooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving the loop keeps the connection open for the answer.
  const sent = incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const part of sent) {
    size += part.length;
    if (size > COLLECT_BODY_BYTES_MAX) throw new BodyTooLarge();
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  return incoming.headers["content-encoding"] === "gzip" ? unpacked(body) : body;
}

/** A body that is no gzip stays as it is. */
function unpacked(body: Buffer): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: COLLECT_BODY_BYTES_MAX });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw new BodyTooLarge();
    return body;
  }
}

export interface CollectRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The target before `?`, not decoded. */
  path: string;
  /** The target after `?`, not decoded, or empty. */
  query: string;
  headers: IncomingHttpHeaders;
  /** As in a URL, without port and final dot. */
  host: string;
  /** The client's, from trusted proxies where there are any; empty when unknown. */
  address: string;
  /** The whole body, at most 64 KiB; empty when there is none. */
  body: Buffer;
}

/**
 * Whether it asks for a part that does not begin at byte 0: a resumed download, or an installer that reads a wheel's
 * metadata. A Range in another unit, or of another form, is ignored by servers (RFC 9110, 14.2).
 */
export function skipsBeginning({ headers: { range = "" } }: Pick<CollectRequest, "headers">): boolean {
  return /^\s*bytes=\s*(?:-|0*[1-9])/i.test(range);
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
   * JSON objects of the client, on one line each. Their keys are those of an import line, but those that name
   * an event or an artifact. Of equal keys the first counts, after `variables`.
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
