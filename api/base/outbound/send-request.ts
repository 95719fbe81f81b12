import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Duplex } from "node:stream";
import { limitInterimAnswers } from "../../../ingest/http/decode-http-answer.js";
import { type AddressGuard, AddressNotAllowed, hostOf } from "./guard-address.js";
import { readSaidBody } from "./read-said-body.js";

export interface Exchange {
  status: number | null;
  /** The received part of the answer's body, unpacked, at most its first 2048 bytes. */
  responseBody: string;
  /** Why no answer came, a sentence of at most 500 characters: the connection failed or timed out. */
  error?: string;
  durationMs: number;
}

export interface Sent {
  url: string;
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

export interface SendOptions {
  guard: AddressGuard;
  /** For the whole exchange: lookup, connection, TLS, and the answer with its body. */
  timeoutMs?: number;
}

const EXCHANGE_MS = 5_000;
const ERROR_CHARACTERS_MAX = 500;

/**
 * Sends one POST on its own connection, to an address that the guard allows; never rejects. Ignores redirects and the
 * proxies of the environment. The status decides the result. The body is only for the log: it is read until 2 KB or the
 * time limit, and the connection is then destroyed.
 */
export async function sendRequest(sent: Sent, options: SendOptions): Promise<Exchange> {
  const begun = performance.now();
  const answer = await exchange(sent, options).catch((error: unknown) => ({
    status: null,
    responseBody: "",
    error: cut(reasonOf(error)),
  }));
  return { ...answer, durationMs: Math.round(performance.now() - begun) };
}

async function exchange(
  { url: text, headers, body }: Sent,
  { guard, timeoutMs = EXCHANGE_MS }: SendOptions,
): Promise<Pick<Exchange, "status" | "responseBody">> {
  const fault = guard.faultOf(text);
  if (fault !== undefined) throw new AddressNotAllowed(`The URL ${fault}.`);
  const url = new URL(text);
  const signal = AbortSignal.timeout(timeoutMs);
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const request = send({
    method: "POST",
    protocol: url.protocol,
    hostname: hostOf(url),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, "Content-Length": body.length },
    // No pooled connection and no global agent: the connection goes to the checked address.
    agent: false,
    lookup: guard.lookup,
    signal,
  });
  try {
    const response = await answerOf(request.end(body), signal);
    return { status: response.statusCode ?? 0, responseBody: await readSaidBody(response) };
  } finally {
    request.destroy();
  }
}

function answerOf(request: ReturnType<typeof requestHttp>, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Also catches errors after the answer.
    request.on("error", (error) => reject(signal.aborted ? new TimedOut() : error));
    request.once("response", resolve);
    limitInterimAnswers(request, (reason) => new Error(`it ${reason}`));
    // An upgraded socket is detached from the request, which neither closes it nor receives its errors.
    request.once("upgrade", (response: IncomingMessage, socket: Duplex) => {
      socket.on("error", () => undefined).destroy();
      resolve(response);
    });
  });
}

class TimedOut extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof TimedOut) return "The receiver did not respond in time.";
  if (error instanceof AddressNotAllowed) return error.message;
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  // An error about a certificate quotes text from the receiver.
  const reason = (message || errors?.[0]?.message || "unknown").replaceAll("\0", "\ufffd");
  const named = code === undefined || reason.includes(code) ? "" : ` (${code})`;
  return `The receiver could not be reached: ${reason}${named}.`;
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length <= ERROR_CHARACTERS_MAX
    ? text
    : `${characters.slice(0, ERROR_CHARACTERS_MAX - 1).join("")}…`;
}
