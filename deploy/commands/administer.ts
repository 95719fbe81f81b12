import type { Pool } from "pg";
import type { TokenCipher } from "../../api/identity/tokens.js";
import type { Shards } from "../../schemas/shards.js";
import type { ClickHouseSource } from "../stores/clickhouse/clickhouse-source.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** The databases and tools of a command. */
export interface Administered {
  pg: Pool;
  tokens: TokenCipher;
  /** The URL at which a browser on this machine reaches the service; undefined if it does not run here. */
  apiUrl: string | undefined;
  clickhouseSource: ClickHouseSource | undefined;
  /** The directory of an embedded log may not exist. */
  logSource: EventLogSource;
  /** Connects to ClickHouse. Starts the embedded server for the time of the command when it does not run. */
  openClickHouse: () => Promise<Shards>;
}

/** Runs a command, whose work returns the lines to print. */
export type Administer = (work: (deps: Administered) => Promise<string[]>) => Promise<void>;

/** The databases that commands work on, until disposed of. */
export interface AdminStores extends AsyncDisposable {
  readonly postgresUrl: string;
  /** Undefined when no server runs on the data directory. */
  readonly apiUrl: string | undefined;
  /** Absent when ClickHouse is embedded and does not run. */
  readonly clickhouseSource: ClickHouseSource | undefined;
  readonly secretKey: Buffer;
  /** The directory of an embedded log may not exist. */
  readonly logSource: EventLogSource;
  /** A running ClickHouse. Starts the embedded one for the time of the command when it does not run. */
  runClickHouse(): Promise<ClickHouseSource>;
}
