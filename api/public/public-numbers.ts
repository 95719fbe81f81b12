import type { ClickHouse } from "../../schemas/shards.js";
import { LRUCache } from "lru-cache";
import { limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import type { PublicPackage } from "./public-packages.js";
import type { Postgres } from "../postgres/query.js";
import { readExportState } from "../imports/export-state.js";
import type { UnsettledImports } from "../../schemas/records/unsettled-imports.js";

export interface PublicNumbersDeps {
  pg: Postgres;
  clickhouse: ClickHouse;
}

/** The stores, and what a query of statistics needs beside its question. */
export interface Reading extends PublicNumbersDeps {
  found: PublicPackage;
  unsettled: UnsettledImports;
  signal: AbortSignal;
}

const KEPT_MAX = 10_000;
const KEPT_MS = 600_000;
const TIME_MS_MAX = 20_000;
/** Dashboards have permits of their own: a popular page does not slow them down. */
const AT_ONCE = { perKey: 2, inAll: 4 };

/**
 * Answers what was read within the last ten minutes, and reads each number once for all who ask at the same time. While
 * ClickHouse is down the number of before is answered.
 */
export function keepPublicNumbers<Read extends object>(
  deps: PublicNumbersDeps,
): (asked: Asked<Read>) => Promise<Read> {
  const take = limitConcurrency(AT_ONCE);
  const kept = new LRUCache<string, Read, Asked<Read>>({
    max: KEPT_MAX,
    ttl: KEPT_MS,
    allowStaleOnFetchRejection: true,
    fetchMethod: async (_key, _stale, { context: { found, read } }) => {
      const signal = AbortSignal.timeout(TIME_MS_MAX);
      const permit = await take([found.id], signal);
      try {
        const { unsettled } = await readExportState(deps.pg, [found.ownerId]);
        return await read({ ...deps, found, unsettled, signal });
      } finally {
        permit[Symbol.dispose]();
      }
    },
  });
  return (asked) => kept.forceFetch(`${asked.found.id} ${asked.key}`, { context: asked });
}

export interface Asked<Read> {
  found: PublicPackage;
  /** Tells what is read of a package apart. */
  key: string;
  read: (reading: Reading) => Promise<Read>;
}
