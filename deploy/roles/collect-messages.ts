import type { Config } from "../config/config.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** The `workerData` of the thread of live collection. URLs carry credentials. */
export interface CollectThreadData {
  config: Pick<Config, "collect" | "logCodec" | "logLevel" | "trustedProxies">;
  logSource: EventLogSource;
  postgresUrl: string;
  clickhouseUrl: string;
}

export type ToCollect = { stop: true } | { scrape: true };
export type FromCollect =
  | { ready: true; url: string; port: number }
  /** Its metrics, in Prometheus's text form. */
  | { metrics: string };
