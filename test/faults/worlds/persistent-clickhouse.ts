import type { ClickHouseClient } from "@clickhouse/client";
import { pause } from "../../../schemas/async/pause.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";

/** ClickHouse for callers that ask while it may die: each question is asked again until it is answered. */
export interface PersistentClickHouse {
  client: Pick<ClickHouseClient, "command">;
  rows<Row>(query: string): Promise<Row[]>;
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
    client: { command: (command) => ask((client) => client.command(command)) },
    rows: (query) => ask(async (client) => (await client.query({ query, format: "JSONEachRow" })).json()),
  };
}
