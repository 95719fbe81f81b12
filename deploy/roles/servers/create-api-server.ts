import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import Koa from "koa";
import type { Logger } from "pino";
import { type Readiness, healthMiddleware } from "../../../api/base/http/health-routes.js";
import { requestId } from "../../../api/base/http/middleware/access-log.js";
import type { ApiState } from "../../../api/base/http/route.js";
import type { ServerHooks } from "../../../ingest/collect/create-collect-server.js";
import { answerAmbiguous, answerUnparsed } from "./answer-unparsed.js";

interface SenderLimits {
  headersMs: number;
  lingerMs: number;
}

interface ApiServerOptions extends Partial<SenderLimits> {
  /** Logs requests that are refused before they reach `handle`. */
  log?: Logger;
}

const SENDER_LIMITS: SenderLimits = { headersMs: 20_000, lingerMs: 5_000 };

/** Longer than proxies keep idle connections (mostly 60 s), so that none sends on one that is being closed here. */
const KEEP_ALIVE_MS = 75_000;

/**
 * A whole request has no time limit, because an import may take hours; idle senders have their own. Headers
 * have one, and so has the rest of a body after the answer.
 */
export function createApiServer(handle: RequestListener, options: ApiServerOptions = {}): Server {
  const { headersMs, lingerMs, log } = { ...SENDER_LIMITS, ...options };
  const settings = {
    requestTimeout: 0,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / 4,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
  };
  const listener: RequestListener = (request, response) => {
    response.once("prefinish", () => lingeringClose(request, lingerMs));
    if (!answerAmbiguous(request, response)) handle(request, response);
  };
  const server = createServer(settings, listener);
  // Their bytes are limited. Above a number, Node would drop headers without a word.
  server.maxHeadersCount = 0;
  // RFC 9110, 10.1.1, allows to ignore an unknown expectation.
  server.on("checkExpectation", listener);
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    listener(request, response);
  });
  server.on("clientError", (error, socket) => answerUnparsed(error, socket, log));
  server.on("connect", (_, socket) => answerUnparsed(new Error("CONNECT"), socket, log));
  return server;
}

/**
 * Asks for the body with `100 Continue` when it is first read. A request that is refused before never sends it,
 * so its connection cannot go on (RFC 9110, 10.1.1).
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request);
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  request._read = (size) => {
    request._read = read;
    if (!response.headersSent) {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    }
    read(size);
  };
}

/**
 * Reads and drops the rest of a body for `lingerMs`: closing earlier would reset the connection, and a client
 * that still sends might not see the answer.
 */
function lingeringClose(request: IncomingMessage, lingerMs: number): void {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  const done = () => clearTimeout(timer);
  request.once("end", done);
  socket.once("close", done);
  // Node calls this after the answer when the client asked to close the connection.
  socket.destroySoon = () => {
    socket.end();
    request.once("end", () => socket.destroy());
  };
  // An iterator over the body may have stopped during a read, and would pause the stream.
  request.removeAllListeners("readable");
  process.nextTick(() => request.resume());
}

interface ServerHooksOptions {
  readiness: Readiness;
  log: Logger;
}

/** Gives the server of live collection the same health checks and errors as the API. */
export function serverHooks({ readiness, log }: ServerHooksOptions): ServerHooks {
  return {
    answerHealth: healthListener(readiness, log),
    answerAmbiguous,
    answerUnparsed: (error, socket) => answerUnparsed(error, socket, log),
    lingeringClose,
    keepAliveMs: KEEP_ALIVE_MS,
  };
}

function healthListener(readiness: Readiness, log: Logger): RequestListener {
  const app = new Koa<ApiState>();
  app.use(requestId(log));
  app.use(healthMiddleware(readiness));
  app.silent = true;
  const handle = app.callback();
  return (incoming, response) => void handle(incoming, response);
}
