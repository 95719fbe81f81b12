import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Logger } from "pino";
import { answerOffRoute, answerUnparsed } from "./answer-unparsed.js";

export interface SenderLimits {
  /** How long a request's headers may take. */
  headersMs: number;
  /** How long the rest of a body is still read once its request is answered. */
  lingerMs: number;
}

export interface ApiServerOptions extends Partial<SenderLimits> {
  /** Hears of requests that are refused before they reach `handle`. */
  log?: Logger;
}

const SENDER_LIMITS: SenderLimits = { headersMs: 20_000, lingerMs: 5_000 };

/** Longer than proxies keep connections idle (mostly 60 s), so that none sends on one that is being closed here. */
const IDLE_MS_MAX = 75_000;

/**
 * The server of the API. A request as a whole has no time-out: an import may take hours, and has a time-out of its
 * own for senders that stand still. Headers have one, and so has what is left of a body once it was answered. What
 * never becomes a request is answered as any error is.
 */
export function createApiServer(handle: RequestListener, options: ApiServerOptions = {}): Server {
  const { headersMs, lingerMs, log } = { ...SENDER_LIMITS, ...options };
  const settings = {
    requestTimeout: 0,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / 4,
    keepAliveTimeout: IDLE_MS_MAX,
    requireHostHeader: false,
  };
  const listener: RequestListener = (request, response) => {
    response.once("prefinish", () => lingeringClose(request, lingerMs));
    if (!answerOffRoute(request, response)) handle(request, response);
  };
  const server = createServer(settings, listener);
  // An expectation that is not understood may be passed over (RFC 9110, 10.1.1).
  server.on("checkExpectation", listener);
  server.on("clientError", (error, socket) => answerUnparsed(error, socket, log));
  server.on("connect", (_, socket) => answerUnparsed(new Error("CONNECT"), socket, log));
  return server;
}

/**
 * Closing a connection while its sender is still sending resets it, and the sender may never see the answer. So the
 * rest is read, and dropped, for a while; whoever goes on longer has seen the answer, or will not look.
 */
export function lingeringClose(request: IncomingMessage, lingerMs: number): void {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  const done = () => clearTimeout(timer);
  request.once("end", done);
  socket.once("close", done);
  // What Node calls after the answer where the sender wants the connection closed.
  socket.destroySoon = () => {
    socket.end();
    request.once("end", () => socket.destroy());
  };
  // Whoever iterated over the body may have left in the middle of a read, and holds it back.
  request.removeAllListeners("readable");
  process.nextTick(() => request.resume());
}
