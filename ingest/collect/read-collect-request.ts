import type { IncomingMessage } from "node:http";
import type { CollectRequest } from "./collect-answer.js";

/** The body that a request to live collection may have at most. */
export const COLLECT_BODY_BYTES_MAX = 64 * 1024;

export class BodyTooLarge extends Error {}

const NO_BODY = Buffer.alloc(0);

/** What a request says, without its body. Behind a trusted proxy the host is the one that the client sees. */
export function readCollectRequest(
  incoming: IncomingMessage,
  trustsProxy: (address: string) => boolean,
): CollectRequest {
  const { method = "", headers } = incoming;
  const { authority = headers.host ?? "", target } = splitTarget(incoming.url ?? "/");
  const questionMark = target.indexOf("?");
  const path = questionMark < 0 ? target : target.slice(0, questionMark);
  const query = questionMark < 0 ? "" : target.slice(questionMark + 1);
  const front = headers["x-forwarded-host"];
  const forwarded = front !== undefined && trustsProxy(incoming.socket.remoteAddress ?? "");
  const seen = (forwarded ? firstOf(front) : undefined) ?? authority;
  return {
    method,
    target,
    path,
    query,
    headers,
    host: hostOf(seen),
    body: NO_BODY,
  };
}

/** A request target may be a whole URL (RFC 9112, 3.2.2), and its host is the one then. */
function splitTarget(url: string): { authority?: string; target: string } {
  if (url.startsWith("/")) return { target: url };
  const [, authority, rest = ""] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return { target: url };
  return { authority, target: rest.startsWith("/") ? rest : `/${rest}` };
}

const AUTHORITY = /^[A-Za-z0-9.:[\]-]+$/;

/** The first entry of a list header, which is the outermost proxy's, if it is a host. */
function firstOf(header: string | string[]): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  const first = text?.split(",", 1)[0]?.trim() ?? "";
  return AUTHORITY.test(first) ? first : undefined;
}

/** Lower case, without a port, and without the dot of a name that is spelt to its end. */
function hostOf(authority: string): string {
  return authority.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/** @throws BodyTooLarge, as soon as it is known to be; and whatever breaks the connection */
export async function readSmallBody(incoming: IncomingMessage): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > COLLECT_BODY_BYTES_MAX) throw new BodyTooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  // One that is left in the middle can still be answered.
  const sent = incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const part of sent) {
    size += part.length;
    if (size > COLLECT_BODY_BYTES_MAX) throw new BodyTooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}
