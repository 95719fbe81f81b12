import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import type { ApiState } from "../route.js";
import { performance } from "node:perf_hooks";
import { inProcessCaller } from "../../identity/client-address.js";
import type { AnsweredRequest } from "../api-listener.js";

/** A fresh id: callers must not choose what the audit log has. The log has their `X-Request-Id`, if well-formed, beside it. */
export function requestId(log: Logger): Middleware<ApiState> {
  return (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    const isOurs = inProcessCaller(ctx.req) !== undefined;
    ctx.state.requestId = isOurs ? given : randomUUID();
    const callers = !isOurs && SANE.test(given) && { callersRequestId: given };
    ctx.state.log = log.child({ requestId: ctx.state.requestId, ...callers });
    ctx.set("X-Request-Id", ctx.state.requestId);
    return next();
  };
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * One line once the answer is out or the connection is gone. The path is without its query. What a page or a tool asks of
 * the API in this process is part of its own request, so it is only there for who looks closely.
 */
export function accessLog(onAnswered: (request: AnsweredRequest) => void): Middleware<ApiState> {
  return (ctx, next) => {
    const startedMs = performance.now();
    ctx.res.once("close", () => {
      const { method, path, status } = ctx;
      const durationMs = performance.now() - startedMs;
      const account = (ctx.state.account ?? ctx.state.session?.account)?.username;
      const line = { method, path, status, ms: Math.round(durationMs), account };
      const isProbe = path === "/healthz" || path === "/readyz";
      if (isProbe || inProcessCaller(ctx.req) !== undefined) ctx.state.log.debug(line, "request");
      else ctx.state.log.info({ ...line, complete: ctx.res.writableFinished }, "request");
      const { route = "none" } = ctx.state;
      onAnswered({ method, route, status: ctx.headerSent ? status : "none", durationMs });
    });
    return next();
  };
}
