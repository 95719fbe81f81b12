import { setTimeout as after } from "node:timers/promises";
import type { Middleware } from "koa";
import type { ApiState } from "../route.js";

/** Each resolves when its store answers, and rejects when it does not. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

/** What `/readyz` says. */
export interface Readiness {
  checks: HealthChecks;
  /** See `readCompleteThrough`. */
  completeThrough?: () => Promise<string>;
}

/**
 * `/healthz`: this process is alive. `/readyz`: so is each store, or 503 naming those that are not. Neither needs a
 * token; reasons go to the log only. For both public ports.
 */
export function healthMiddleware(readiness: Readiness): Middleware<ApiState> {
  return async (ctx, next) => {
    const asked = ["/healthz", "/readyz"].includes(ctx.path) && ["GET", "HEAD"].includes(ctx.method);
    if (!asked) {
      await next();
      return;
    }
    ctx.state.route = ctx.path;
    const health = ctx.path === "/healthz" ? ALIVE : await readHealth(readiness);
    for (const [store, reason] of Object.entries(health.reasons)) {
      ctx.state.log.warn({ store, err: reason }, "a store is not ready");
    }
    ctx.status = health.ready ? 200 : 503;
    if (!health.ready) ctx.set("Retry-After", "5");
    ctx.body = health.body;
  };
}

export interface Health {
  ready: boolean;
  body: object;
  /** Why a store is not ready, by its name. */
  reasons: Record<string, unknown>;
}

const ALIVE: Health = { ready: true, body: { status: "ok" }, reasons: {} };

/** Asks every store at once and waits at most two seconds for each. */
export async function readHealth(
  { checks, completeThrough }: Readiness,
  { timeoutMs = 2000 } = {},
): Promise<Health> {
  const asked = Object.entries(checks).map(async ([store, check]) => {
    const reason = await failureOf(check, timeoutMs);
    return { store, reason };
  });
  const down = (await Promise.all(asked)).filter(({ reason }) => reason !== undefined);
  const reasons = Object.fromEntries(down.map(({ store, reason }) => [store, reason]));
  const states = Object.keys(checks).map((store) => [store, store in reasons ? "down" : "ok"]);
  const stores = Object.fromEntries(states) as Record<string, string>;
  if (down.length === 0) {
    // A database that went away just now is the next answer's business.
    const through = await completeThrough?.().catch(() => undefined);
    const body = { status: "ok", stores, ...(through !== undefined && { complete_through: through }) };
    return { ready: true, body, reasons };
  }
  const message = `Not ready: ${Object.keys(reasons).join(", ")}.`;
  return { ready: false, body: { status: "unavailable", code: "unavailable", message, stores }, reasons };
}

async function failureOf(check: () => Promise<void>, timeoutMs: number): Promise<unknown> {
  const timer = new AbortController();
  const late = after(timeoutMs, new Error(`no answer within ${timeoutMs} ms`), { signal: timer.signal });
  try {
    return await Promise.race([check().then(() => undefined), late]);
  } catch (error) {
    return error;
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}
