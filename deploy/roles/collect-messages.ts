import type { Config } from "../config/config.js";
import type { ClickHouseSource } from "../stores/clickhouse/clickhouse-source.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** The `workerData` of the thread of live collection. URLs carry credentials. */
export interface CollectThreadData {
  config: Pick<Config, "collect" | "dataDir" | "logCodec" | "logLevel" | "trustedProxies">;
  logSource: EventLogSource;
  postgresUrl: string;
  clickhouseSource: ClickHouseSource;
}

/** `catchUp` has the number that its answer repeats. */
export type ToCollect = { stop: true } | { scrape: true } | { catchUp: number };
export type FromCollect =
  | { ready: true; url: string; port: number }
  | { metrics: string }
  /** Every change that was committed before `catchUp` was sent is served. */
  | { caughtUp: number };
