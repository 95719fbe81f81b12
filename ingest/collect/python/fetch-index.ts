import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/**
 * Asks an upstream for a page: one GET, with redirects followed. Rejects when the connection fails, when the address is
 * not allowed, and when the signal is aborted, which ends a body that is being read as well.
 */
export type FetchIndex = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<FetchedIndex>;

export interface FetchedIndex {
  status: number;
  headers: IncomingHttpHeaders;
  /** Where the answer came from in the end. */
  url: string;
  /** Decompressed. Leaving the loop early gives the connection up. */
  body: AsyncIterable<Uint8Array>;
  /** Gives up a body that nobody reads. */
  discard(): void;
}

/** An upstream that could not be asked, or that sends on and on. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";
}

const REDIRECTS_MAX = 3;

/** Says which addresses may be asked; see `AddressGuard` of `api/outbound`. */
export interface UpstreamGuard {
  /** What is wrong with a URL, by itself. */
  faultOf(url: string): string | undefined;
  /** Fails where a name leads to an address that must not be connected to. */
  lookup: LookupFunction;
}

/**
 * Fetches pages of Python indexes from the addresses that owners of packages gave. Each hop of a redirect passes the
 * guard, on a connection of its own to an address that was checked; proxies of the environment are not asked.
 */
export function createIndexClient(guard: UpstreamGuard): FetchIndex {
  return async (url, headers, signal) => {
    let place = new URL(url);
    for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
      const response = await get(place, { headers, signal, guard });
      const next = redirectOf(response, place);
      if (next === undefined) return fetched(response, place.href);
      response.destroy();
      place = next;
    }
    throw new UpstreamFailure(`${url} was redirected more than ${REDIRECTS_MAX} times`);
  };
}

interface Asking {
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  guard: UpstreamGuard;
}

function get(url: URL, { headers, signal, guard }: Asking): Promise<IncomingMessage> {
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
    // Stays for what breaks behind the answer: the reader of the body is told as well.
    request.on("error", reject);
    request.once("response", resolve);
    request.end();
  });
}

/** Where the answer sends on to. Never from https to http: nobody could vouch for the hashes any more. */
function redirectOf({ statusCode, headers }: IncomingMessage, from: URL): URL | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0) || location === undefined) return undefined;
  if (!URL.canParse(location, from.href))
    throw new UpstreamFailure(`${from.href} was redirected to ${location}`);
  const next = new URL(location, from);
  if (next.protocol === "https:" || (next.protocol === "http:" && from.protocol === "http:")) return next;
  throw new UpstreamFailure(`${from.href} was redirected to ${next.protocol}//${next.host}`);
}

function fetched(response: IncomingMessage, url: string): FetchedIndex {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    url,
    body: plainBody(response),
    discard: () => void response.destroy(),
  };
}

function plainBody(response: IncomingMessage): Readable {
  // Who does not read it does not hear of its end either.
  response.on("error", () => undefined);
  const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return response;
  if (encoding !== "gzip" && encoding !== "x-gzip") {
    response.destroy();
    throw new UpstreamFailure(`the upstream answered in ${encoding}, which was not asked for`);
  }
  // The reader of what comes out is told of whatever fails on the way.
  return pipeline(response, createGunzip(), () => undefined);
}
