import type { BaseContext, Middleware } from "koa";
import { Problem } from "../../../../schemas/problem.js";
import type { ApiContext, ApiState } from "../route.js";
import { isStoreDown } from "../../postgres/query.js";
import type { Layer } from "@koa/router";

/** The one place where errors become answers: a Problem, 503 for an unavailable store, else a bare 500. */
export function answerProblems(): Middleware<ApiState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      answer(ctx, error);
    }
  };
}

/**
 * Koa's last error handler, which also receives failures of streams after the answer began. It then breaks the
 * connection, so that the client cannot take a part for the whole. Koa may call it more than once for one failure.
 */
export function onUncaught(this: BaseContext, error: Error | null): void {
  const ctx = this as unknown as ApiContext;
  // Koa also calls this without an error, whenever an answer ends well.
  if (error === null || error === undefined || ctx.state.failed) return;
  ctx.state.failed = true;
  if (ctx.res.headersSent || !ctx.writable) {
    if (ctx.state.left.aborted) logLeft(ctx, error);
    else ctx.state.log.warn({ err: error }, "the response was cut off");
    ctx.res.destroy();
    return;
  }
  answer(ctx, error);
  ctx.res.end(JSON.stringify(ctx.body));
}

function answer(ctx: ApiContext, error: unknown): void {
  if (ctx.state.left.aborted) {
    logLeft(ctx, error);
    ctx.res.destroy();
    return;
  }
  const problem = problemFor(ctx, error);
  if (ctx.res.headersSent) ctx.res.destroy();
  else render(ctx, problem);
}

/** The Problem that an error becomes. Logs what an operator should know of it. */
export function problemFor(ctx: ApiContext, error: unknown): Problem {
  const problem = problemOf(error);
  logOnce(ctx, { problem, error });
  return problem;
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isStoreDown(error)) {
    return new Problem("unavailable", "A database is temporarily unavailable. Try again in a few seconds.", {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
  return new Problem(
    "internal-error",
    "Unexpected error. Quote the request id (X-Request-Id) when you report it.",
  );
}

const RETRY_AFTER_SECONDS = 5;

/** Errors below 500 are not logged here: the access log has their status. */
function logOnce(ctx: ApiContext, { problem, error }: { problem: Problem; error: unknown }): void {
  if (problem.status === 503) ctx.state.log.warn({ err: problem.cause ?? problem }, "a store is unavailable");
  else if (problem.status >= 500) ctx.state.log.error({ err: error }, "the request failed");
}

function render(ctx: ApiContext, problem: Problem): void {
  ctx.status = problem.status;
  if (problem.status === 401) ctx.set("WWW-Authenticate", "Bearer");
  // An unread rest of the body would be parsed as the next request.
  if (problem.status === 408) ctx.set("Connection", "close");
  if (problem.retryAfterSeconds !== undefined) ctx.set("Retry-After", String(problem.retryAfterSeconds));
  for (const header of HEADERS_OF_SUCCESS) ctx.remove(header);
  ctx.type = "application/json";
  const { code, message, errors } = problem;
  ctx.body = { code, message, ...(errors && { errors }) };
}

/** Headers that a route may have set before it failed. They are wrong on an error. */
const HEADERS_OF_SUCCESS = [
  "Content-Encoding",
  "Content-Length",
  "Content-Disposition",
  "ETag",
  "Location",
  "Trailer",
];

/** Without a stack, as it is the caller's doing: `curl ... | head` closes the connection early. */
function logLeft(ctx: ApiContext, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  ctx.state.log.info({ reason }, "the client disconnected before it had received the whole response");
}

/** After all routes: 405 with `Allow` where the path exists for other methods, else 404. */
export function refuseUnmatched(): Middleware {
  return (ctx) => {
    const matched = (ctx["matched"] ?? []) as Layer[];
    const methods = new Set(matched.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new Problem("not-found", `Nothing exists at ${ctx.path}.`);
    const allowed = [...methods, "OPTIONS"].sort().join(", ");
    ctx.set("Allow", allowed);
    if (ctx.method !== "OPTIONS") {
      throw new Problem(
        "method-not-allowed",
        `${ctx.method} is not allowed here. Allowed methods: ${allowed}.`,
      );
    }
    ctx.status = 204;
  };
}
