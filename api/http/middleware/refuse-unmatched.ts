import type { Middleware } from "koa";
import type { Layer } from "@koa/router";
import { Problem } from "../../../schemas/problem.js";

/** After all routes: 405 with `Allow` where the path exists for other methods, else 404. */
export function refuseUnmatched(): Middleware {
  return (ctx) => {
    const matched = (ctx["matched"] ?? []) as Layer[];
    const methods = new Set(matched.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new Problem("not-found", `There is nothing at ${ctx.path}.`);
    const allowed = [...methods, "OPTIONS"].sort().join(", ");
    ctx.set("Allow", allowed);
    if (ctx.method !== "OPTIONS") {
      throw new Problem("method-not-allowed", `${ctx.method} is not possible here, only ${allowed}.`);
    }
    ctx.status = 204;
  };
}
