import type { IncomingMessage } from "node:http";

/**
 * Aborts `left` when the caller of a request closes its connection, until it is disposed of. Watches the connection: a
 * pipelined answer has none of its own yet, and a request closes once its body was read.
 */
export function watchCaller({ socket }: IncomingMessage): Disposable & { left: AbortSignal } {
  const controller = new AbortController();
  const leave = () => controller.abort(new Error("the caller left"));
  socket.once("close", leave);
  if (socket.destroyed) leave();
  return { left: controller.signal, [Symbol.dispose]: () => void socket.off("close", leave) };
}
