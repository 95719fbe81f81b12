import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { limitInterimAnswers } from "../../http/decode-http-answer.js";
import { UpstreamFailure, type UpstreamGuard } from "../sites.js";

/**
 * Fetches a page of an upstream with one GET and follows redirects. Rejects when the connection fails, the address is
 * not allowed, or the signal is aborted; an abort also ends the body.
 */
export type FetchIndex = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<FetchedIndex>;

export interface FetchedIndex {
  status: number;
  headers: IncomingHttpHeaders;
  /** The URL of the answer, after redirects. */
  url: string;
  /** Whether a body that breaks off can be told from its end: it has a length, chunks or a packing. */
  isDelimited: boolean;
  /** Decompressed. Leaving the loop early closes the connection. */
  body: AsyncIterable<Uint8Array>;
  /** Closes the connection of a body that is not read. */
  discard(): void;
}

const REDIRECTS_MAX = 3;

/**
 * Fetches pages of Python indexes from URLs that package owners set. Every hop of a redirect passes the guard, on a new
 * connection to a checked address. Proxies of the environment are not used.
 */
export function createIndexClient(guard: UpstreamGuard): FetchIndex {
  return createGuardedClient(() => guard);
}

/** As `createIndexClient`, with the guard that each hop of a redirect has to pass. */
export function createGuardedClient(guardOf: (url: URL) => UpstreamGuard): FetchIndex {
  return async (url, headers, signal) => {
    const first = new URL(url);
    let current = first;
    for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
      const sent = current.origin === first.origin ? headers : withoutToken(headers);
      const response = await get(current, { headers: sent, signal, guard: guardOf(current) });
      const next = redirectOf(response, current);
      if (next === undefined) return fetched(response, current.href);
      response.destroy();
      current = next;
    }
    throw new UpstreamFailure(`${url} was redirected more than ${REDIRECTS_MAX} times`);
  };
}

/** A redirect must not take a token to another host. */
function withoutToken(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"),
  );
}

interface GetOptions {
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  guard: UpstreamGuard;
}

function get(url: URL, { headers, signal, guard }: GetOptions): Promise<IncomingMessage> {
  const fault = guard.faultOf(url.href);
  if (fault !== undefined) throw new UpstreamFailure(`The URL ${fault}.`);
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      headers: { "User-Agent": "maintainer-toolchain", "Accept-Encoding": "gzip", ...headers },
      agent: false,
      lookup: guard.lookup,
      signal,
    });
    // Not `once`: the connection may also break during the body, where the reader gets the error too.
    request.on("error", reject);
    request.once("response", resolve);
    // After a 101, which nobody asked for, Node closes the connection without an error or a response.
    request.once("close", () =>
      reject(new UpstreamFailure(`${url.href} closed the connection without a response`)),
    );
    limitInterimAnswers(request, (reason) => new UpstreamFailure(`${url.href} ${reason}`));
    request.end();
  });
}

/** The target of a redirect. Never from https to http, because the hashes of files would not be trustworthy. */
function redirectOf({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0) || location === undefined) return undefined;
  if (!URL.canParse(location, from.href))
    throw new UpstreamFailure(`${from.href} was redirected to an invalid URL: ${location}`);
  const next = new URL(location, from);
  if (next.protocol === "https:" || (next.protocol === "http:" && from.protocol === "http:")) return next;
  throw new UpstreamFailure(
    `${from.href} was redirected from https to http, or to another protocol: ${next.protocol}//${next.host}`,
  );
}

function fetched(response: IncomingMessage, url: string): FetchedIndex {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    url,
    isDelimited: DELIMITING.some((name) => response.headers[name] !== undefined),
    body: plainBody(response),
    discard: () => void response.destroy(),
  };
}

const DELIMITING = ["content-length", "transfer-encoding", "content-encoding"] as const;

function plainBody(response: IncomingMessage): Readable {
  // An unread body must not end the process with its error.
  response.on("error", () => undefined);
  const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return response;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    response.destroy();
    throw new UpstreamFailure(`the upstream used Content-Encoding ${encoding}, which was not requested`);
  }
  // The reader of the decompressed body gets every error.
  return pipeline(response, createGunzip(), () => undefined);
}
