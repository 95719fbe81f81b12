import type { HealthChecks, Readiness } from "../../api/routes/health.js";
import { readCompleteThrough } from "../../api/stores/imports/complete-through.js";
import { ENRICH_GROUP } from "../../enrich/start-worker.js";
import type { Role } from "../config/config-schema.js";
import { usesLog, type Stores } from "../stores/open-stores.js";
import type { Collect } from "./start-collect.js";
import type { Enrichment } from "./start-enrichment.js";

type CheckedStores = Pick<Stores, "pg" | "clickhouse" | "eventLog">;

/** What `/readyz` says on the public ports: each store. */
export function readinessOf(stores: CheckedStores): Readiness {
  return { checks: storeChecks(stores), completeThrough: () => readCompleteThrough(stores.pg) };
}

export interface RoleParts {
  roles: ReadonlySet<Role>;
  /** Undefined until it is started. */
  enrichment: () => Pick<Enrichment, "idleWorkers"> | undefined;
  /** Undefined until it is started. */
  collect: () => Pick<Collect, "isServing"> | undefined;
}

/** What `/readyz` says on the metrics port: what the roles of this process need, and whether its threads do their work. */
export function roleChecks(stores: Stores, { roles, enrichment, collect }: RoleParts): HealthChecks {
  const { event_log: eventLog, ...databases } = storeChecks(stores);
  return {
    ...databases,
    ...(usesLog(roles) && { event_log: eventLog }),
    ...(roles.has("enrich") && { enrichment: async () => assertConsuming(enrichment()) }),
    ...(roles.has("collect") && { collection: async () => assertServing(collect()) }),
  };
}

function assertConsuming(enrichment: Pick<Enrichment, "idleWorkers"> | undefined): void {
  const idle = enrichment?.idleWorkers();
  if (idle === undefined) throw new Error("enrichment is not started yet");
  if (idle > 0) throw new Error(`${idle} enrichment workers do not consume`);
}

function assertServing(collect: Pick<Collect, "isServing"> | undefined): void {
  if (collect === undefined) throw new Error("live collection is not started yet");
  if (!collect.isServing()) throw new Error("live collection does not answer now");
}

function storeChecks({ pg, clickhouse, eventLog }: CheckedStores) {
  return {
    postgres: async () => void (await pg.query("select 1")),
    clickhouse: async () => void (await clickhouse.command({ query: "SELECT 1" })),
    event_log: async () => void (await (await eventLog()).lag(ENRICH_GROUP)),
  } satisfies HealthChecks;
}
