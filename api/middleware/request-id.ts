import { randomUUID } from "node:crypto";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import type { ApiState } from "../route.js";

/** Names the request: the caller's `X-Request-Id` if it is sane, else a fresh one. It is on the answer and in the log. */
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
