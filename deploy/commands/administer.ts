import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { TokenCipher } from "../../api/identity/tokens.js";
import type { EventLogSource } from "../stores/open-event-log.js";

/** What the work of a command may reach. */
export interface Administered {
  pg: Pool;
  tokens: TokenCipher;
  clickhouseUrl: string | undefined;
  /** An embedded one may not be there. */
  logSource: EventLogSource;
  /** A client of ClickHouse, whose embedded server is started for the moment when it does not run. */
  openClickHouse: () => Promise<ClickHouseClient>;
}

/** Runs the work of one command, which answers the lines to print. */
export type Administer = (work: (deps: Administered) => Promise<string[]>) => Promise<void>;

/** The databases to administer, until closed. */
export interface AdminStores extends AsyncDisposable {
  readonly postgresUrl: string;
  /** Absent when it is an embedded one that does not run at the moment. */
  readonly clickhouseUrl: string | undefined;
  readonly secretKey: Buffer;
  /** An embedded one may not be there. */
  readonly logSource: EventLogSource;
  /** The URL of a ClickHouse that runs: where it is an embedded one that does not, it is started for the moment. */
  runClickHouse(): Promise<string>;
}
