import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { pino } from "pino";
import { migratePostgres } from "../../../api/base/postgres/migrate-postgres.js";
import { prepareClickHouse } from "../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import { openDataDir } from "../../../deploy/process/data-dir.js";
import { startClickHouse } from "../../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../../../deploy/stores/embedded/postgres/postgres.js";
import { embeddedUrl } from "../../../deploy/stores/open-stores.js";
import { interpretStatements, usePreparedStores } from "./prepared-stores.js";

const run = promisify(execFile);
const log = pino({ level: "silent" });

/** Several projects want the same stores: the first one to ask prepares them, the first one to end removes them. */
const once = globalThis as { preparedStores?: Promise<() => Promise<void>> | undefined };

/**
 * Prepares once a run what each file would otherwise make anew: the folders of both databases with this program's
 * tables, a PostgreSQL server for files that need tables alone, and smaller lookup tables.
 */
export async function setup(): Promise<() => Promise<void>> {
  once.preparedStores ??= prepareStores();
  const close = await once.preparedStores;
  return async () => {
    if (once.preparedStores === undefined) return;
    once.preparedStores = undefined;
    await close();
  };
}

async function prepareStores(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), "prepared-stores-"));
  const template = join(dir, "template");
  const networks = join(dir, "networks.csv");
  await markDataDir(template);
  await Promise.all([
    preparePostgres(join(template, "postgres")),
    makeClickHouse(join(template, "clickhouse")),
    writeFewNetworks(networks),
  ]);
  await run("cp", ["-a", join(template, "postgres"), join(dir, "postgres")]);
  const server = await startPostgres({ dir: join(dir, "postgres"), log });
  await letMakeDatabases(server.url, join(dir, "postgres"));
  usePreparedStores({ template, postgresUrl: server.url, networks, places: PLACES });
  return async () => {
    await server[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  };
}

/** As the program marks a folder, without which it would not start on the databases. */
async function markDataDir(dir: string): Promise<void> {
  await using _ = await openDataDir(dir);
}

async function preparePostgres(dir: string): Promise<void> {
  await using server = await startPostgres({ dir, log });
  const pool = connectPostgres({ url: server.url, connectionsMax: 1, log });
  await migratePostgres(pool);
  await pool.end();
}

async function makeClickHouse(dir: string): Promise<void> {
  await using server = await startClickHouse({ dir, log });
  await prepareClickHouse(embeddedUrl(server), { lock: "alone" });
  await interpretStatements(dir);
}

/** No test kills this server: nothing in it needs to outlive a crash. */
const SETTINGS = [
  "alter role maintainer createdb",
  // A vacuum under way would keep a database from being dropped: only the superuser may end it.
  "alter system set autovacuum = off",
  "alter system set fsync = off",
  "alter system set full_page_writes = off",
  "select pg_reload_conf()",
];

async function letMakeDatabases(url: string, dir: string): Promise<void> {
  const { hostname: host, port } = new URL(url);
  const password = (await readFile(join(dir, "superuser-password"), "utf8")).trim();
  const client = new pg.Client({
    host,
    port: Number(port),
    user: "postgres",
    password,
    database: "postgres",
  });
  await client.connect();
  try {
    for (const setting of SETTINGS) await client.query(setting);
  } finally {
    await client.end();
  }
}

const PLACES = fileURLToPath(new URL("../../fixtures/mmdb/GeoIP2-City-Test.mmdb", import.meta.url));
const KEPT_OF = 100;

/** Every hundredth network of the bundled table: the whole one takes each start of the program a second to read. */
async function writeFewNetworks(path: string): Promise<void> {
  const resolve = createRequire(import.meta.url).resolve;
  const files = ["asn-ipv4-num.csv", "asn-ipv6.csv"].map((name) => resolve(`@ip-location-db/asn/${name}`));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const kept = texts.flatMap((text) =>
    text.split("\n").filter((line, index) => line !== "" && index % KEPT_OF === 0),
  );
  await writeFile(path, `${kept.join("\n")}\n`);
}
