import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "pg";
import type { TokenCipher } from "../../api/base/identity/tokens.js";
import { Problem } from "../../schemas/problem.js";
import type { EventLog, LagReader } from "../../schemas/records/event-log.js";
import type { Shards } from "../../schemas/shards.js";
import { createLog } from "../process/log.js";
import { StartFailure } from "../process/start-failure.js";
import type { ClickHouseSource } from "../stores/clickhouse/clickhouse-source.js";
import type { EventLogSource } from "../stores/open-event-log.js";

export interface Administered {
  pg: Pool;
  tokens: TokenCipher;
  /** The URL at which a browser on this machine reaches the service; undefined if it does not run here. */
  apiUrl: string | undefined;
  /** The address at which people reach the service, where it is configured. */
  publicUrl: string | undefined;
  clickhouseSource: ClickHouseSource | undefined;
  /** The directory of an embedded log may not exist. */
  logSource: EventLogSource;
  /** Connects to ClickHouse. Starts the embedded server for the time of the command when it does not run. */
  openClickHouse: () => Promise<Shards>;
}

export type Administer = (work: (deps: Administered) => Promise<string[]>) => Promise<void>;

export interface AdminStores extends AsyncDisposable {
  readonly postgresUrl: string;
  /** Undefined when no server runs on the data directory. */
  readonly apiUrl: string | undefined;
  readonly publicUrl: string | undefined;
  /** Absent when ClickHouse is embedded and does not run. */
  readonly clickhouseSource: ClickHouseSource | undefined;
  readonly secretKey: Buffer;
  readonly logSource: EventLogSource;
  runClickHouse(): Promise<ClickHouseSource>;
}

export interface AdminProcess {
  env: Record<string, string | undefined>;
  /** Takes one line of the result. */
  print: (line: string) => void;
  /** Takes one line about what goes on, beside the result. */
  note: (line: string) => void;
  /** Prints the sentence of a failure and sets the exit status to 1. */
  fail: (sentence: string) => void;
}

/** Results go to standard output, notes and failures to standard error. */
export function thisProcess(): AdminProcess {
  const note = (line: string) => void process.stderr.write(`${line}\n`);
  return {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    note,
    fail: (sentence) => {
      note(sentence);
      process.exitCode = 1;
    },
  };
}

/** Never creates an embedded log: records in a log that nobody reads would be lost. */
export async function openAdminLog(source: EventLogSource): Promise<EventLog & LagReader> {
  if ("dir" in source && !existsSync(join(source.dir, "data.mdb")))
    throw new Error(
      `${source.dir} contains no event log. Run this command on the service's machine, with the same ` +
        "DATA_DIR.",
    );
  // Loaded here: few commands need the drivers of the logs.
  const { openEventLog } = await import("../stores/open-event-log.js");
  return openEventLog(source, createLog({ level: "error" }));
}

/** The message of an error and, unless the operator caused it, that of its cause. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const explained = error instanceof StartFailure || (error instanceof Problem && error.status < 500);
  const cause = !explained && error.cause instanceof Error ? ` (${sentenceOf(error.cause)})` : "";
  return (error.message || error.name) + cause;
}
