import type { RequestListener } from "node:http";
import type Koa from "koa";
import { Problem } from "../../../schemas/problem.js";
import { type Caller, actAs } from "../identity/client-address.js";
import type { ApiContext } from "./route.js";

interface OwnCall {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** `/v1/...` or `/v2/...`, encoded, with its query. */
  url: string;
  /** Sent as JSON; bytes as they are. */
  body?: unknown;
}

/**
 * Calls an operation of this service's own API in the same process, so that authorisation, validation, audit log and
 * errors exist once. Answers the parsed JSON, undefined for an empty answer. The call ends with the request that makes it.
 * Throws the API's Problem, and `not-found` for a path with a dot segment, which would lead to another operation than the
 * caller's.
 */
export async function callOwnApi<Answer>(
  ctx: ApiContext,
  caller: Caller,
  { method = "GET", url, body }: OwnCall,
): Promise<Answer> {
  if (DOT_SEGMENT.test(url.split("?", 1)[0] ?? ""))
    throw new Problem("not-found", "Not found, or you don't have access.");
  // Loaded for the first call: a start need not wait for it.
  const { inject } = await import("light-my-request");
  const { left } = ctx.state;
  left.throwIfAborted();
  const answer = await inject(
    (request, response) => {
      actAs(request, caller);
      // The library's own has an address alone, and no method of a socket.
      Object.assign(request, { socket: ctx.req.socket });
      left.addEventListener("abort", () => response.destroy(), { once: true });
      listenerOf(ctx.app)(request, response);
    },
    {
      method,
      url,
      headers: headersFor(ctx),
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
    "x-forwarded-port",
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
  return new Problem(code ?? "internal-error", message ?? "The API did not respond.", {
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
