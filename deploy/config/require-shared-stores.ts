import type { Config } from "./config.js";
import { StartFailure } from "../process/start-failure.js";

/** Together they are the way from import to export: none of them is of use without the others. */
const WHOLE = ["api", "enrich", "jobs"] as const;

/**
 * Embedded stores serve one process. One that leaves a role to others would keep a log that nobody reads, or wait at
 * one that nobody writes to, and say nothing of it.
 * @throws StartFailure naming the stores that have to be shared
 */
export function refuseApart({ roles, kafka, databaseUrl, clickhouseUrl }: Config): void {
  const elsewhere = WHOLE.filter((role) => !roles.has(role));
  const stores = { KAFKA_BROKERS: kafka, DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl };
  const embedded = Object.entries(stores).flatMap(([variable, given]) =>
    given === undefined ? [variable] : [],
  );
  if (elsewhere.length === 0 || embedded.length === 0) return;
  throw new StartFailure(
    `ROLES leaves ${listed(elsewhere)} to other processes, which cannot see embedded stores: ` +
      `set ${listed(embedded)}, or let ROLES have ${listed(WHOLE)}`,
  );
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
