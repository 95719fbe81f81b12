import type { Middleware } from "koa";
import { bytesTag } from "../answers/entity-tag.js";
import type { ApiState } from "../route.js";

/** Serialises JSON answers once, and adds an ETag to every read of JSON that has none from its route. */
export function tagAnswers(): Middleware<ApiState> {
  return async (ctx, next) => {
    await next();
    if (!isJson(ctx.body)) return;
    const bytes = Buffer.from(JSON.stringify(ctx.body));
    ctx.type = "application/json";
    ctx.body = bytes;
    const isRead = ["GET", "HEAD"].includes(ctx.method) && ctx.status === 200;
    if (isRead && ctx.response.headers.etag === undefined) ctx.set("ETag", bytesTag(bytes));
  };
}

function isJson(body: unknown): body is object {
  return typeof body === "object" && body !== null && !Buffer.isBuffer(body) && !("pipe" in body);
}
