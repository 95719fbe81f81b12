import type { Config } from "../config/config.js";
import { StartFailure } from "../process/start-failure.js";

/** The roles between import and export. None of them is of use without the others. */
const PIPELINE = ["api", "enrich", "jobs"] as const;

/**
 * Embedded stores serve one process: with a role in another, the event log would have no reader or writer,
 * without an error. @throws StartFailure naming the stores that must be shared
 */
export function requireSharedStores({ roles, kafka, databaseUrl, clickhouseUrl }: Config): void {
  const elsewhere = PIPELINE.filter((role) => !roles.has(role));
  const stores = { KAFKA_BROKERS: kafka, DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl };
  const embedded = Object.entries(stores).flatMap(([variable, given]) =>
    given === undefined ? [variable] : [],
  );
  if (elsewhere.length === 0 || embedded.length === 0) return;
  throw new StartFailure(
    `ROLES does not include ${listed(elsewhere)}, but other processes cannot use this process's embedded ` +
      `stores: set ${listed(embedded)}, or add ${listed(elsewhere)} to ROLES`,
  );
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
