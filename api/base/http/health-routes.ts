import type { Middleware } from "koa";
import { settlesWithin } from "../../../schemas/async/pause.js";
import { TIMESTAMP, titledObject } from "../../../schemas/formats.js";
import type { ApiContext, ApiState, Operation, PublicRoute } from "./route.js";

/** Each resolves if its store answers, and rejects otherwise. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

/** The answer of `/readyz`. */
export interface Readiness {
  checks: HealthChecks;
  /** See `readCompleteThrough`. */
  completeThrough?: () => Promise<string>;
}

/** `/readyz` answers 503 with the stores that do not answer. Neither needs a token. Reasons are only logged. */
export function healthRoutes(readiness: Readiness): PublicRoute[] {
  const health = shareHealth(readiness);
  return [
    {
      method: "GET",
      path: "/healthz",
      operation: {
        id: "getHealth",
        summary: "Check whether this process is alive",
        answers: { 200: { description: "The process is alive", schema: HEALTH, example: { status: "ok" } } },
      },
      handle: (ctx) => answerHealth(ctx, ALIVE),
    },
    {
      method: "GET",
      path: "/readyz",
      operation: READINESS_OPERATION,
      handle: async (ctx) => answerHealth(ctx, await health()),
    },
  ];
}

export function healthMiddleware(readiness: Readiness): Middleware<ApiState> {
  const routes = healthRoutes(readiness);
  return async (ctx, next) => {
    const asked = ["GET", "HEAD"].includes(ctx.method) && routes.find(({ path }) => path === ctx.path);
    await (asked ? asked.handle(ctx) : next());
  };
}

function answerHealth(ctx: ApiContext, { ready, body, reasons }: Health): void {
  for (const [store, reason] of Object.entries(reasons)) {
    ctx.state.log.warn({ store, err: reason }, "a store is not ready");
  }
  ctx.status = ready ? 200 : 503;
  if (!ready) ctx.set("Retry-After", "5");
  ctx.body = body;
}

const STATUS = { type: "string", enum: ["ok", "unavailable"] } as const;
const HEALTH = titledObject("Health", ["status"], { status: STATUS });
const READINESS = titledObject("Readiness", ["status", "stores"], {
  status: STATUS,
  code: { type: "string", const: "unavailable" },
  message: { type: "string" },
  stores: { type: "object", additionalProperties: { type: "string", enum: ["ok", "down"] } },
  complete_through: {
    ...TIMESTAMP,
    description:
      "Exports include all data imported before this time. Live events are included within a few seconds",
  },
});

const READINESS_OPERATION: Operation = {
  id: "getReadiness",
  summary: "Check whether all stores are reachable",
  answers: {
    200: {
      description: "All stores respond",
      schema: READINESS,
      example: { status: "ok", stores: { postgres: "ok", clickhouse: "ok", event_log: "ok" } },
    },
    503: {
      description: "At least one store does not respond",
      schema: READINESS,
      example: {
        status: "unavailable",
        code: "unavailable",
        message: "Not ready: clickhouse.",
        stores: { postgres: "ok", clickhouse: "down", event_log: "ok" },
      },
      headers: {
        "Retry-After": {
          schema: { type: "integer" },
          required: true,
          description: "Seconds to wait before you retry",
        },
      },
    },
  },
};

export interface Health {
  ready: boolean;
  body: object;
  reasons: Record<string, unknown>;
}

const ALIVE: Health = { ready: true, body: { status: "ok" }, reasons: {} };

/** Concurrent requests share a check, which asks all stores. No result is kept: callers wait for a change of it. */
export function shareHealth(readiness: Readiness): () => Promise<Health> {
  let making: Promise<Health> | undefined;
  return () => (making ??= readHealth(readiness).finally(() => (making = undefined)));
}

/** Asks every store at once. Each has two seconds. */
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
    // A database that failed just now shows in the next answer.
    const through = await completeThrough?.().catch(() => undefined);
    const body = { status: "ok", stores, ...(through !== undefined && { complete_through: through }) };
    return { ready: true, body, reasons };
  }
  const message = `Not ready: ${Object.keys(reasons).join(", ")}.`;
  return { ready: false, body: { status: "unavailable", code: "unavailable", message, stores }, reasons };
}

async function failureOf(check: () => Promise<void>, timeoutMs: number): Promise<unknown> {
  try {
    const isInTime = await settlesWithin(check(), timeoutMs);
    return isInTime ? undefined : new Error(`no response within ${timeoutMs} ms`);
  } catch (error) {
    return error;
  }
}
