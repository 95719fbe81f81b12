import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";

export interface SenderLimits {
  /** How long a request's headers may take. */
  headersMs: number;
  /** How long the rest of a body is still read once its request is answered. */
  lingerMs: number;
}

const SENDER_LIMITS: SenderLimits = { headersMs: 20_000, lingerMs: 5_000 };

/**
 * The server of the API. A request as a whole has no time-out: an import may take hours, and has a time-out of its
 * own for senders that stand still. Headers have one, and so has what is left of a body once it was answered.
 */
export function createApiServer(
  handle: RequestListener,
  { headersMs, lingerMs }: SenderLimits = SENDER_LIMITS,
): Server {
  const timeouts = {
    requestTimeout: 0,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / 4,
  };
  return createServer(timeouts, (request, response) => {
    response.once("prefinish", () => lingerWhileSent(request, lingerMs));
    handle(request, response);
  });
}

/**
 * Closing a connection while its sender is still sending resets it, and the sender may never see the answer. So the
 * rest is read, and dropped, for a while; whoever goes on longer has seen the answer, or will not look.
 */
function lingerWhileSent(request: IncomingMessage, lingerMs: number): void {
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
