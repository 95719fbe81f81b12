import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { startClickHouse } from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { copyClickHouse } from "./prepared-stores.js";
import { prepareClickHouse } from "../../../deploy/stores/clickhouse/prepare-clickhouse.js";

/** A real ClickHouse in a directory of its own, with this program's tables. */
export interface TestClickHouse extends AsyncDisposable {
  client: ClickHouseClient;
  /** With credentials. */
  url: string;
  /** The rows of a query as objects; 64-bit numbers are text. */
  rows<Row>(query: string): Promise<Row[]>;
}

const prepareNew = (url: string) => prepareClickHouse(url, { lock: "alone" });

/** `prepare` makes the database and its tables; without it they are this release's. */
export async function openTestClickHouse(prepare?: (url: string) => Promise<void>): Promise<TestClickHouse> {
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-clickhouse-"));
  const copied = prepare === undefined && (await copyClickHouse(dir));
  const server = await startClickHouse({ dir, log: pino({ level: "silent" }) });
  const url = new URL(server.url);
  url.username = server.username;
  url.password = server.password;
  if (!copied) await (prepare ?? prepareNew)(url.href);
  const client = connectClickHouse(url.href);
  return {
    client,
    url: url.href,
    async rows<Row>(query: string) {
      const answer = await client.query({ query, format: "JSONEachRow" });
      return answer.json<Row>();
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
