import type { Middleware } from "koa";
import { whenLeft } from "../../../../ingest/http/when-left.js";
import type { ApiState } from "../route.js";

/** Sets `ctx.state.left`. In this process a call ends with the request that makes it: see `callOwnApi`. */
export function watchCaller(): Middleware<ApiState> {
  return (ctx, next) => {
    ctx.state.left = whenLeft(ctx.req, ctx.res);
    return next();
  };
}
