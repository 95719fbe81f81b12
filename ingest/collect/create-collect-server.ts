import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { whenLeft } from "../http/when-left.js";
import { answerRequest, siteOf, type Collecting, type CollectKind } from "./answer-request.js";
import {
  type CollectAnswer,
  type CollectRequest,
  type StreamedAnswer,
  BodyTooLarge,
  readCollectRequest,
  readSmallBody,
} from "./read-collect-request.js";
import { liveLine } from "./live-line.js";

export interface CollectServerOptions {
  collecting: Collecting;
  trustsProxy: (address: string) => boolean;
  hooks: ServerHooks;
  log: Logger;
  /** Takes the line of an event for this owner, from a client with this address. Must not block. */
  onEvent: (line: string, parties: { ownerId: string; address: string }) => void;
  onAnswered: (kind: CollectKind, status: number) => void;
  /** Called for each event of a pixel or an npm report, with the host that it came to. Must not block. */
  onCollectionHost?: (host: string) => void;
  /** The longest that a client may take for one part of another server's answer. */
  partMsMax?: number;
}

export interface ServerHooks {
  answerHealth: RequestListener;
  answerAmbiguous: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Answers bytes that the HTTP parser refused. */
  answerUnparsed: (error: Error, socket: Duplex) => void;
  lingeringClose: (request: IncomingMessage, lingerMs: number) => void;
  /** How long an idle connection is kept. */
  keepAliveMs: number;
}

/** For a whole request, whose body has at most 64 KiB. */
const REQUEST_MS_MAX = 20_000;
const HEADERS_MS_MAX = 10_000;
const HEADERS_BYTES_MAX = 16 * 1024;
/** A part has up to 256 KiB. */
const PART_MS_MAX = 120_000;
/** How long the rest of a refused body is read. */
const LINGER_MS = 2_000;

/**
 * On Node's own HTTP: an answer takes about ten microseconds, and a framework would double that. Events are
 * buffered before their answer is sent.
 */
export function createCollectServer(options: CollectServerOptions): Server {
  const settings = {
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: HEADERS_MS_MAX,
    connectionsCheckingInterval: HEADERS_MS_MAX / 4,
    keepAliveTimeout: options.hooks.keepAliveMs,
    maxHeaderSize: HEADERS_BYTES_MAX,
  };
  const { answerHealth, answerAmbiguous, answerUnparsed } = options.hooks;
  const listener: RequestListener = (incoming, response) => {
    if (answerAmbiguous(incoming, response)) return;
    const request = readCollectRequest(incoming, options.trustsProxy);
    if (HEALTH.has(request.path) && siteOf(request, options.collecting)?.kind !== "file")
      return answerHealth(incoming, response);
    if (hasBody(incoming)) return void answerWithBody(request, { incoming, response, options });
    return answer(request, { incoming, response, options });
  };
  const server = createServer(settings, listener);
  // Their bytes are limited. Above a number, Node would drop headers without a word.
  server.maxHeadersCount = 0;
  // RFC 9110, 10.1.1, allows to ignore an unknown expectation.
  server.on("checkExpectation", listener);
  server.on("clientError", (error, socket) => answerUnparsed(error, socket));
  server.on("connect", (_, socket) => answerUnparsed(new Error("CONNECT"), socket));
  return server;
}

const HEALTH = new Set(["/healthz", "/readyz"]);

interface Exchange {
  incoming: IncomingMessage;
  response: ServerResponse;
  options: CollectServerOptions;
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === "HEAD") return false;
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

async function answerWithBody(request: CollectRequest, exchange: Exchange): Promise<void> {
  const { incoming, response } = exchange;
  try {
    request.body = await readSmallBody(incoming);
  } catch (error) {
    if (error instanceof BodyTooLarge) refuseLarge(exchange);
    else response.destroy();
    return;
  }
  answer(request, exchange);
}

function refuseLarge({ incoming, response, options }: Exchange): void {
  options.onAnswered("none", 413);
  response.once("prefinish", () => options.hooks.lingeringClose(incoming, LINGER_MS));
  response.writeHead(413, { "Content-Length": "0", Connection: "close" }).end();
}

/** Writes an answer that needs no waiting in the same turn of the event loop. */
function answer(request: CollectRequest, exchange: Exchange): void {
  const time = Date.now();
  try {
    const { kind, answer } = answerRequest(request, exchange.options.collecting);
    const write = (ready: CollectAnswer | StreamedAnswer) =>
      writeAnswer(ready, { request, kind, time }, exchange);
    if (typeof answer !== "function" && !(answer instanceof Promise)) return write(answer);
    const coming =
      typeof answer === "function" ? answer(whenLeft(exchange.incoming, exchange.response)) : answer;
    coming.then(write).catch((error: unknown) => fail(error, exchange, kind));
  } catch (error) {
    fail(error, exchange, "none");
  }
}

interface ReceivedRequest {
  request: CollectRequest;
  kind: CollectKind;
  /** Milliseconds since the epoch. */
  time: number;
}

function writeAnswer(
  answer: CollectAnswer | StreamedAnswer,
  received: ReceivedRequest,
  exchange: Exchange,
): void {
  const { status, events } = answer;
  const { response, options } = exchange;
  if (events.length > 0 && !optsOut(received.request)) recordEvents(events, received, exchange);
  if (events.length > 0 && (received.kind === "pixel" || received.kind === "npm"))
    options.onCollectionHost?.(received.request.host);
  options.onAnswered(received.kind, status);
  if (isStreamed(answer)) {
    response.writeHead(status, answer.headers);
    return void sendBody(answer.body, response, options);
  }
  const { body = "" } = answer;
  response.writeHead(status, headOf(answer));
  response.end(received.request.method === "HEAD" || body === "" ? undefined : body);
}

function isStreamed(answer: CollectAnswer | StreamedAnswer): answer is StreamedAnswer {
  return typeof answer.body === "object" && Symbol.asyncIterator in answer.body;
}

/** Reads no faster than the client takes it. When either side breaks or is too slow, so does the other. */
async function sendBody(
  body: StreamedAnswer["body"],
  response: ServerResponse,
  { partMsMax = PART_MS_MAX }: Pick<CollectServerOptions, "partMsMax">,
): Promise<void> {
  const taken = (part: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      response.write(part, (error) => (error ? reject(error) : resolve()));
    });
  const late = setTimeout(() => response.destroy(), partMsMax);
  try {
    for await (const part of body) {
      late.refresh();
      await taken(part);
      late.refresh();
    }
    response.end();
  } catch {
    response.destroy();
  } finally {
    clearTimeout(late);
  }
}

/** Header names and values in turn. Spreading two objects into a third takes V8 ten times as long. */
function headOf({ status, headers, body = "" }: CollectAnswer): string[] {
  const pairs: string[] = [];
  for (const name in headers) pairs.push(name, headers[name] ?? "");
  // 204 and 304 have no body, so no Content-Length.
  if (status !== 304 && status !== 204) pairs.push("Content-Length", String(Buffer.byteLength(body)));
  return pairs;
}

/** Do Not Track, or its successor Global Privacy Control. */
function optsOut({ headers }: CollectRequest): boolean {
  return headers["dnt"] === "1" || headers["sec-gpc"] === "1";
}

function recordEvents(
  events: CollectAnswer["events"],
  { request, time }: ReceivedRequest,
  { options }: Exchange,
): void {
  const { address, headers, host } = request;
  const source = { time, address, host, headers };
  for (const event of events) options.onEvent(liveLine(event, source), { ownerId: event.ownerId, address });
}

function fail(error: unknown, { incoming, response, options }: Exchange, kind: CollectKind): void {
  const requestId = randomUUID();
  options.log.error({ err: error, requestId, kind, method: incoming.method }, "a request failed");
  options.onAnswered(kind, 500);
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { "Content-Length": "0", "X-Request-Id": requestId }).end();
}
