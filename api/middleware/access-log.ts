import { performance } from "node:perf_hooks";
import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/** One line for each request, once its answer is out or its connection is gone. Queries are left out: only paths. */
export function accessLog(): Middleware<ApiState> {
  return (ctx, next) => {
    const startedMs = performance.now();
    ctx.res.once("close", () => {
      const { method, path, status } = ctx;
      const ms = Math.round(performance.now() - startedMs);
      const line = { method, path, status, ms, account: ctx.state.account?.username };
      if (ctx.path === "/healthz" || ctx.path === "/readyz") ctx.state.log.debug(line, "request");
      else ctx.state.log.info({ ...line, complete: ctx.res.writableFinished }, "request");
    });
    return next();
  };
}
