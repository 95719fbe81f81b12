import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { createDatabase, migrateClickHouse } from "../../../aggregate/clickhouse/migrate-clickhouse.js";
import { assetUrl } from "../../../schemas/asset.js";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { readRows } from "../common/read-rows.js";
import { postFile } from "../common/post-file.js";

export const PEER_NAME = "clickhouse-jsoneachrow";

/** A database with the same tables and views as the program's, on the same server. */
export interface ClickHousePeer extends AsyncDisposable {
  /**
   * Streams the lines of a file into `events` with one INSERT. Resolves when its rows and those of all views are
   * inserted. Each line must be a JSON object: one truncated object makes ClickHouse fail when it parses on several
   * cores ("Size of JSON object is extremely large"), and on one core it would be a weaker peer.
   */
  insert(file: { path: string; packageIds: readonly string[] }): Promise<void>;
  /** The number of inserted events. */
  countEvents(): Promise<number>;
  /** Drops the database. */
  [Symbol.asyncDispose](): Promise<void>;
}

const DATABASE = "bench_peer";

/** Creates an empty database for the peer on the server of a ClickHouse URL with credentials. */
export async function openClickHousePeer(url: string): Promise<ClickHousePeer> {
  const server = connectClickHouse(url, { database: "default" });
  const drop = () => server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
  await drop();
  await createDatabase(server, DATABASE);
  const clickhouse = connectClickHouse(url, { database: DATABASE });
  await migrateClickHouse([clickhouse]);
  const query = await readFile(assetUrl("test/bench/import/insert-raw-lines.sql"), "utf8");
  return {
    async insert({ path, packageIds }) {
      const { headers, text } = await postFile({ ...insertRequest(url, { query, packageIds }), path });
      const code = headers["x-clickhouse-exception-code"];
      if (code !== undefined)
        throw new Error(`the INSERT of the peer failed with ClickHouse error ${String(code)}: ${text}`);
    },
    countEvents: () => countEvents(url),
    async [Symbol.asyncDispose]() {
      await drop();
      await clickhouse.close();
      await server.close();
    },
  };
}

function insertRequest(url: string, { query, packageIds }: { query: string; packageIds: readonly string[] }) {
  const { origin, username, password } = new URL(url);
  const insert = new URL(origin);
  const artifacts = `[${packageIds.map((id) => `'${id}'`).join(",")}]`;
  const parameters = { param_artifacts: artifacts, param_importId: randomUUID() };
  insert.search = new URLSearchParams({ database: DATABASE, query, ...parameters, ...SETTINGS }).toString();
  const headers = {
    "X-ClickHouse-User": decodeURIComponent(username),
    "X-ClickHouse-Key": decodeURIComponent(password),
  };
  return { url: insert, headers };
}

/** Settings that accept raw lines, and settings that make the peer as fast as possible. */
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
  // Without deduplication, the peer is faster.
  insert_deduplicate: "0",
} as const;

async function countEvents(url: string): Promise<number> {
  const query = "SELECT count() AS events FROM events";
  const [row] = await readRows<{ events: string }>(url, query, { database: DATABASE });
  return Number(row?.events);
}
