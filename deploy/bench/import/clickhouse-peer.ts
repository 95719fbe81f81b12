import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { ClickHouseClient } from "@clickhouse/client";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { assetUrl } from "../../../schemas/asset.js";
import { connectClickHouse } from "../../stores/clickhouse/connect-clickhouse.js";
import { postFile } from "../common/post-file.js";

export const PEER_NAME = "clickhouse-jsoneachrow";

/** Tables and views like the program's own, beside them on the same server. */
export interface ClickHousePeer extends AsyncDisposable {
  /**
   * Streams the lines of a file into `events` with one INSERT, and resolves when its rows and those of all views are
   * there. Each line has to be a JSON object: a single one that is cut short stops ClickHouse when it parses on several
   * cores ("Size of JSON object is extremely large"), and on one core it would be a weaker peer.
   */
  insert(file: { path: string; packageId: string }): Promise<void>;
  /** The events that came of it. */
  countEvents(): Promise<number>;
  /** Gives the disk back. */
  [Symbol.asyncDispose](): Promise<void>;
}

const DATABASE = "bench_peer";

/** Makes the peer's database, empty, on the server of a ClickHouse URL with credentials. */
export async function openClickHousePeer(url: string): Promise<ClickHousePeer> {
  const server = connectClickHouse(url, { database: "default" });
  const drop = () => server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
  await drop();
  await createDatabase(server, DATABASE);
  const clickhouse = connectClickHouse(url, { database: DATABASE });
  await migrateClickHouse(clickhouse);
  const query = await readFile(assetUrl("deploy/bench/import/insert-raw-lines.sql"), "utf8");
  return {
    async insert({ path, packageId }) {
      const { headers, text } = await postFile({ ...insertRequest(url, { query, packageId }), path });
      const code = headers["x-clickhouse-exception-code"];
      if (code !== undefined)
        throw new Error(`ClickHouse answered the peer with exception ${String(code)}: ${text}`);
    },
    countEvents: () => countEvents(clickhouse),
    async [Symbol.asyncDispose]() {
      await drop();
      await clickhouse.close();
      await server.close();
    },
  };
}

function insertRequest(url: string, { query, packageId }: { query: string; packageId: string }) {
  const { origin, username, password } = new URL(url);
  const insert = new URL(origin);
  const parameters = { param_artifact: packageId, param_importId: randomUUID() };
  insert.search = new URLSearchParams({ database: DATABASE, query, ...parameters, ...SETTINGS }).toString();
  const headers = {
    "X-ClickHouse-User": decodeURIComponent(username),
    "X-ClickHouse-Key": decodeURIComponent(password),
  };
  return { url: insert, headers };
}

/** What lets the raw lines in at all, and what makes it fast: the peer is to be as strong as it can be. */
const SETTINGS = {
  async_insert: "0",
  wait_end_of_query: "1",
  max_partitions_per_insert_block: "0",
  input_format_skip_unknown_fields: "1",
  input_format_allow_errors_ratio: "1",
  input_format_json_read_numbers_as_strings: "1",
  input_format_null_as_default: "1",
  input_format_parallel_parsing: "1",
  max_insert_threads: String(availableParallelism()),
  // A peer that need not recognise a repeated block is the faster for it.
  insert_deduplicate: "0",
} as const;

async function countEvents(clickhouse: ClickHouseClient): Promise<number> {
  const answer = await clickhouse.query({
    query: "SELECT count() AS events FROM events",
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ events: string | number }>();
  return Number(row?.events);
}
