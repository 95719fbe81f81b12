import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { pino } from "pino";
import { connectClickHouse } from "../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { startClickHouse } from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { connectShards, oneServer } from "../../../deploy/stores/clickhouse/connect-shards.js";
import type { ClickHouse, Shards } from "../../../schemas/shards.js";
import { type GivenServers, suiteServers } from "../shards/given-servers.js";
import { openServersDatabase } from "../shards/servers-database.js";
import { copyClickHouse } from "./prepared-stores.js";
import { prepareClickHouse, prepareServers } from "../../../deploy/stores/clickhouse/prepare-clickhouse.js";

/** A real ClickHouse in a directory of its own, or a database on the suite's servers, with this program's tables. */
export interface TestClickHouse extends AsyncDisposable {
  /** Reads the rows of all shards; on one server, it has the tables. */
  client: ClickHouseClient;
  shards: Shards;
  /** With credentials. */
  url: string;
  /** The rows of a query as objects; 64-bit numbers are text. */
  rows<Row>(query: string): Promise<Row[]>;
  /** The tables of each server. */
  servers: readonly ServerTables[];
}

/** The tables that rows are written to, on one server. */
interface ServerTables {
  client: Pick<ClickHouseClient, "command">;
  rows<Row>(query: string): Promise<Row[]>;
}

const prepareNew = (url: string) => prepareClickHouse(url, { lock: "alone" });

/** `prepare` makes the database and its tables; without it they are this release's. */
export async function openTestClickHouse(prepare?: (url: string) => Promise<void>): Promise<TestClickHouse> {
  const servers = suiteServers();
  if (servers !== undefined && prepare === undefined) return openOnServers(servers);
  const dir = await mkdtemp(join(tmpdir(), "maintainer-toolchain-clickhouse-"));
  const copied = prepare === undefined && (await copyClickHouse(dir));
  const server = await startClickHouse({ dir, log: pino({ level: "silent" }) });
  const url = new URL(server.url);
  url.username = server.username;
  url.password = server.password;
  if (!copied) await (prepare ?? prepareNew)(url.href);
  const client = connectClickHouse(url.href);
  return {
    ...testClickHouse(client, { shards: oneServer(client), url: url.href }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function openOnServers(servers: GivenServers): Promise<TestClickHouse> {
  const database = openServersDatabase(servers);
  await prepareServers(database.source, { lock: "alone" });
  const shards = connectShards(database.source);
  const url = database.whole[0] ?? "";
  const client = connectClickHouse(url, { settings: { distributed_product_mode: "global" } });
  return {
    ...testClickHouse(client, { shards, url }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await shards[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

function testClickHouse(client: ClickHouseClient, { shards, url }: Pick<TestClickHouse, "shards" | "url">) {
  return {
    ...tablesOf(client),
    shards,
    url,
    servers: shards.shards.flatMap((shard) => shard.servers.map(tablesOf)),
  };
}

function tablesOf<Client extends ClickHouse>(client: Client) {
  return {
    client,
    async rows<Row>(query: string): Promise<Row[]> {
      const answer = await client.query({ query, format: "JSONEachRow" });
      return answer.json<Row>();
    },
  };
}

/** Runs a statement about tables on every server. */
export async function onEveryServer(servers: readonly ServerTables[], query: string): Promise<void> {
  for (const { client } of servers) await client.command({ query });
}

/**
 * Makes every insert into the table of the view throw on each of these servers, a recount too, until what is returned is called. Not by
 * another query of the view: ClickHouse then stores an insert once more that is repeated under its token.
 */
export async function breakView(
  servers: readonly ServerTables[],
  name: string,
): Promise<() => Promise<void>> {
  const table = name.replace(/_view$/, "");
  const put = (change: string) => onEveryServer(servers, `ALTER TABLE ${table} ${change}`);
  await put("ADD CONSTRAINT IF NOT EXISTS broken CHECK throwIf(rand() >= 0, 'broken by a test') = 0");
  return () => put("DROP CONSTRAINT IF EXISTS broken");
}

/** Events with a live version, and versions that are live otherwise than once or beside another of their event. */
export async function countLive(
  { rows }: Pick<TestClickHouse, "rows">,
  packageId: string,
): Promise<{ events: number; notOnce: number }> {
  const [counted] = await rows<{ events: string; notOnce: string }>(`
    SELECT uniqExact(event_id) AS events, countIf(signs != 1) + count() - uniqExact(event_id) AS notOnce
    FROM (SELECT event_id, sum(sign) AS signs FROM events WHERE artifact = '${packageId}'
      GROUP BY event_id, version, import_id HAVING signs != 0)`);
  return { events: Number(counted?.events), notOnce: Number(counted?.notOnce) };
}
