import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Aborts once nobody can read the response any more, and once it has ended.
 *
 * A connection that closes says so: a pipelined response is not on its connection yet and never closes with it, and a
 * request closes once its body was read. The response closes first where this process breaks it off.
 */
export function whenLeft({ socket }: Pick<IncomingMessage, "socket">, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    socket.off("close", leave);
    controller.abort(new Error("the client disconnected"));
  };
  // Each pipelined request listens, and each of the tasks that it begins: that is no leak.
  setMaxListeners(0, socket, controller.signal);
  socket.once("close", leave);
  response.once("close", leave);
  if (socket.destroyed) leave();
  return controller.signal;
}
