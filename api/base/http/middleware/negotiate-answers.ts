import type { Middleware } from "koa";
import koaCompress from "koa-compress";
import koaConditionalGet from "koa-conditional-get";
import { bytesTag, encodedTag } from "../answers/headers.js";
import type { ApiContext, ApiState } from "../route.js";

/** Streams compress themselves. The encoding comes first: the ETag names it, and If-None-Match is compared after it. */
export function negotiateAnswers(): Middleware<ApiState> {
  const compress = koaCompress({ filter: () => true, threshold: 0, deflate: false, zstd: false });
  const conditionalGet = koaConditionalGet();
  return async (ctx, next) => {
    const { method } = ctx;
    await compress(ctx, async () => {
      await next();
      const encoding = encodingOf(ctx);
      const { etag } = ctx.response.headers;
      if (typeof etag === "string") {
        ctx.set("ETag", encodedTag(etag, encoding));
        await conditionalGet(ctx, async () => undefined);
      }
      if (ctx.status === 304) ctx.remove("Content-Encoding");
      ctx.compress = only(encoding);
      // koa-compress skips HEAD, but its answer must have the headers of GET's.
      ctx.method = method === "HEAD" ? "GET" : method;
    });
    ctx.method = method;
  };
}

const BYTES_MIN = 1024;

function encodingOf(ctx: ApiContext): string {
  const already = ctx.response.headers["content-encoding"];
  if (typeof already === "string") return already;
  if (!Buffer.isBuffer(ctx.body) || ctx.body.length < BYTES_MIN) return "identity";
  return ctx.acceptsEncodings("gzip", "br", "identity") || "identity";
}

function only(encoding: string) {
  if (encoding !== "gzip" && encoding !== "br") return false;
  return encoding === "gzip" ? { br: false as const } : { gzip: false as const };
}

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
