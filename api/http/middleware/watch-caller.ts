import { setMaxListeners } from "node:events";
import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/**
 * Sets `ctx.state.left`, a signal that aborts once nobody can read the response any more.
 *
 * A connection that closes says so: a pipelined response is not on its connection yet, and a request closes once its body
 * was read. The response closes first where this process breaks it off, or where the page that asked for it in this process
 * has lost its own reader.
 */
export function watchCaller(): Middleware<ApiState> {
  return (ctx, next) => {
    const { socket } = ctx.req;
    const controller = new AbortController();
    const leave = () => {
      socket.off("close", leave);
      controller.abort(new Error("the caller left"));
    };
    // Each pipelined request and each call of a page listens: that is no leak.
    setMaxListeners(0, socket, controller.signal);
    socket.once("close", leave);
    ctx.res.once("close", leave);
    if (socket.destroyed) leave();
    ctx.state.left = controller.signal;
    return next();
  };
}
