import type { RequestListener } from "node:http";
import type Koa from "koa";
import { inject } from "light-my-request";
import { Problem } from "../../schemas/problem.js";
import { requireSession } from "../identity/sessions.js";
import { actAs } from "../identity/client-address.js";
import type { ApiContext } from "../http/route.js";
import { type Query, withQuery } from "./address.js";

export interface ApiCall {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** `/v1/...` or `/v2/...`, encoded: see `path`. */
  path: string;
  query?: Query;
  /** Sent as JSON; bytes as they are. */
  body?: unknown;
}

/**
 * Calls an operation of this service's own API in the same process, as the signed-in account, so that authorisation,
 * validation, audit log and errors exist once. Answers the parsed JSON, undefined for an empty answer. Throws the API's
 * Problem, `unauthenticated` without a session, and `not-found` for a path with a dot segment, which would lead to
 * another operation than the page's.
 */
export async function callApi<Answer>(
  ctx: ApiContext,
  { method = "GET", path, query, body }: ApiCall,
): Promise<Answer> {
  const { account } = requireSession(ctx.state.session);
  if (DOT_SEGMENT.test(path)) throw new Problem("not-found", "There is no such thing.");
  const answer = await inject(
    (request, response) => {
      actAs(request, { account, requireCaller: ctx.state.requireCaller });
      listenerOf(ctx.app)(request, response);
    },
    {
      method,
      url: withQuery(path, query),
      headers: headersFor(ctx),
      remoteAddress: ctx.req.socket.remoteAddress ?? "",
      ...(body !== undefined && { payload: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    },
  );
  const parsed = answer.payload === "" ? undefined : (JSON.parse(answer.payload) as unknown);
  if (answer.statusCode < 400) return parsed as Answer;
  throw problemOf(parsed, answer.headers["retry-after"]);
}

/** URLs are resolved before they are routed: `/a/b/..` would be `/a/`. */
const DOT_SEGMENT = /\/(\.|%2e){1,2}(\/|$)/i;

/** With these the API makes the same public addresses, and its log lines have the same request id. */
function headersFor(ctx: ApiContext): Record<string, string> {
  const forwarded = [
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-prefix",
    "x-forwarded-for",
    "forwarded",
  ];
  const names = ["host", ...forwarded];
  const passed = names.map((name) => [name, ctx.get(name)] as const).filter(([, value]) => value !== "");
  return { ...Object.fromEntries(passed), "x-request-id": ctx.state.requestId };
}

function problemOf(body: unknown, retryAfter: unknown): Problem {
  const { code, message, errors } = (body ?? {}) as Partial<Problem>;
  const seconds = Number(retryAfter);
  return new Problem(code ?? "internal-error", message ?? "The API gave no answer.", {
    ...(errors && { errors }),
    ...(seconds > 0 && { retryAfterSeconds: seconds }),
  });
}

const LISTENERS = new WeakMap<object, RequestListener>();

/** Koa composes its middleware anew for each callback. */
function listenerOf(app: Koa): RequestListener {
  const known = LISTENERS.get(app);
  if (known !== undefined) return known;
  const handle = app.callback();
  const listener: RequestListener = (request, response) => void handle(request, response);
  LISTENERS.set(app, listener);
  return listener;
}
