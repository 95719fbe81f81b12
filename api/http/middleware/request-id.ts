import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import type { ApiState } from "../route.js";

/**
 * Names the request for the answer and the log: by the caller's `X-Request-Id` if it is well-formed, else by a fresh
 * id.
 */
export function requestId(log: Logger): Middleware<ApiState> {
  return (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = SANE.test(given) ? given : randomUUID();
    ctx.state.log = log.child({ requestId: ctx.state.requestId });
    ctx.set("X-Request-Id", ctx.state.requestId);
    return next();
  };
}

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;
