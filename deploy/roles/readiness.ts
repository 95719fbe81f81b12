import type { HealthChecks, Readiness } from "../../api/base/http/health-routes.js";
import { readCompleteThrough } from "../../api/features/imports/export-state.js";
import { ENRICH_GROUP } from "../../schemas/records/event-log.js";
import type { Role } from "../config/variables.js";
import { type Stores, usesLog } from "../stores/open-stores.js";
import type { Collect } from "./start-collect.js";
import type { Enrichment } from "./enrich.js";

type CheckedStores = Pick<Stores, "pg" | "clickhouse" | "eventLog">;

/** `/readyz` of the public ports: each store. */
export function readinessOf(stores: CheckedStores): Readiness {
  return { checks: storeChecks(stores), completeThrough: () => readCompleteThrough(stores.pg) };
}

/** Roles with threads of their own. One that is not started yet is absent. */
interface StartedRoles {
  enrichment?: Pick<Enrichment, "idleWorkers">;
  collect?: Pick<Collect, "isServing">;
}

/** `/readyz` of the metrics port: the stores that this process's roles need, and whether its threads work. */
export function roleChecks(
  stores: Stores,
  roles: ReadonlySet<Role>,
  started: Readonly<StartedRoles>,
): HealthChecks {
  const { event_log: eventLog, ...databases } = storeChecks(stores);
  return {
    ...databases,
    ...(usesLog(roles) && { event_log: eventLog }),
    ...(roles.has("enrich") && { enrichment: async () => requireConsuming(started.enrichment) }),
    ...(roles.has("collect") && { collection: async () => requireServing(started.collect) }),
  };
}

function requireConsuming(enrichment: StartedRoles["enrichment"]): void {
  const idle = enrichment?.idleWorkers();
  if (idle === undefined) throw new Error("enrichment has not started yet");
  if (idle > 0) throw new Error(`${idle} enrichment workers are stalled`);
}

function requireServing(collect: StartedRoles["collect"]): void {
  if (collect === undefined) throw new Error("the collector has not started yet");
  if (!collect.isServing()) throw new Error("the collector does not respond");
}

function storeChecks({ pg, clickhouse, eventLog }: CheckedStores) {
  return {
    postgres: async () => void (await pg.query("select 1")),
    clickhouse: async () => void (await clickhouse.command({ query: "SELECT 1" })),
    event_log: async () => {
      const log = await eventLog();
      await log.lag(ENRICH_GROUP);
      await log.requireRoom?.();
    },
  } satisfies HealthChecks;
}
