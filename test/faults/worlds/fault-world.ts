import type { Client } from "pg";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { RecountBodies } from "../../support/imports/import-world.js";
import type { ProcessEnvironment } from "../../support/program/toolchain-process.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import type { FaultCatalog } from "../plans/fault-catalog.js";
import type { PlannedFault } from "../plans/plan-seed.js";
import type { ClickHouseClient } from "@clickhouse/client";
import { pause } from "../../../schemas/async/pause.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

export interface WorldOptions {
  /** More variables of every program. */
  env?: ProcessEnvironment;
}

/** The whole product with faults to come, one for all seeds of a run: what one seed leaves behind, the next one meets. */
export interface FaultWorld extends AsyncDisposable {
  /** The faults that can strike here. */
  readonly faults: FaultCatalog;
  /** Those that enrich; each is started again, as a supervisor would, whenever it ends. */
  readonly programs: readonly Toolchain[];
  /** The one that answers live requests. */
  readonly collector: Toolchain;
  readonly organization: string;
  readonly recountBodies: RecountBodies;
  /** A client of a process that runs now. */
  readonly api: ApiClient;
  /** Arms these faults in place of those before. */
  arm(faults: readonly PlannedFault[]): Promise<void>;
  /** Nothing strikes any more; resolves when what has struck is over. */
  disarm(): Promise<void>;
  /** Which of the faults armed last were carried out, by their place in the list. */
  carriedOut(): Promise<Set<number>>;
  /** Runs `work` on a connection to the database. */
  withPostgres<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Reads all rows. */
  readonly clickhouse: PersistentClickHouse;
  /** The servers of each shard: they keep the same rows, and have the views that add them up. */
  readonly shards: readonly (readonly PersistentClickHouse[])[];
  /** Waits until every process runs. */
  whenRunning(): Promise<void>;
}

/** ClickHouse for callers that ask while it may die: each question is asked again until it is answered. */
export interface PersistentClickHouse {
  client: Pick<ClickHouseClient, "command">;
  rows<Row>(query: string): Promise<Row[]>;
  /** Any number of statements, each of which may run again. */
  ask<Answer>(question: (client: ClickHouseClient) => Promise<Answer>): Promise<Answer>;
}

const TRIES_MS_MAX = 240_000;
const RETRY_MS = 100;

/** `url` is asked for anew each time: a program that was started again has its store on another port. */
export function openPersistentClickHouse(url: () => string): PersistentClickHouse {
  async function ask<Answer>(question: (client: ClickHouseClient) => Promise<Answer>): Promise<Answer> {
    const deadline = Date.now() + TRIES_MS_MAX;
    for (;;) {
      const client = connectClickHouse(url());
      try {
        return await question(client);
      } catch (error) {
        if (Date.now() > deadline) throw error;
      } finally {
        await client.close();
      }
      await pause(RETRY_MS);
    }
  }
  return {
    ask,
    client: { command: (command) => ask((client) => client.command(command)) },
    rows: (query) => ask(async (client) => (await client.query({ query, format: "JSONEachRow" })).json()),
  };
}
