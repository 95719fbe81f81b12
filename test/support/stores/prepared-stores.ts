import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { onPostgres } from "./on-postgres.js";

/** Prepared once a run (`prepare-stores.ts`), in a form that can be handed to the processes of tests. */
export interface PreparedStores {
  /** A folder with `postgres` and `clickhouse`, each with this program's tables and nothing in them. */
  template: string;
  /** A server whose database of this URL has the tables and is never written to. */
  postgresUrl: string;
  /** A CSV with a hundredth of the bundled networks, for ASN_DB. */
  networks: string;
  /** An MMDB with a few hundred places, for CITY_MMDB. */
  places: string;
}

/** Three things that a program under test need not make, or read in full: the two lookup tables are 180 MB. */
export type Prepared = "databases" | "networks" | "places";
export const ALL_PREPARED: readonly Prepared[] = ["databases", "networks", "places"];

const VARIABLE = "TEST_PREPARED_STORES";

/** From here on this process and those that it starts use them. */
export function usePreparedStores(stores: PreparedStores): void {
  process.env[VARIABLE] = JSON.stringify(stores);
}

/** None where tests' programs are started by hand. */
export function preparedStores(): PreparedStores | undefined {
  const given = process.env[VARIABLE];
  return given === undefined ? undefined : (JSON.parse(given) as PreparedStores);
}

/** The variables of a program that reads smaller lookup tables. */
export function smallLookups(prepared: readonly Prepared[]): { ASN_DB?: string; CITY_MMDB?: string } {
  const stores = preparedStores();
  if (stores === undefined) return {};
  return {
    ...(prepared.includes("networks") && { ASN_DB: stores.networks }),
    ...(prepared.includes("places") && { CITY_MMDB: stores.places }),
  };
}

/** Puts the databases where a program would make them at its first start. */
export async function copyDatabases(dataDir: string): Promise<void> {
  const stores = preparedStores();
  if (stores === undefined) return;
  // `cp`, because it keeps the account that PostgreSQL runs as.
  await promisify(execFile)("cp", ["-a", `${stores.template}/.`, dataDir]);
}

/** The same for a ClickHouse alone. @returns whether there was one to copy */
export async function copyClickHouse(dir: string): Promise<boolean> {
  const stores = preparedStores();
  if (stores === undefined) return false;
  await promisify(execFile)("cp", ["-a", `${stores.template}/clickhouse/.`, dir]);
  return true;
}

const COMPILED = ["expressions", "aggregate_expressions", "sort_description", "regular_expressions"];

/**
 * Has a ClickHouse in this folder interpret its statements: with the few rows of tests, compiling those that come a third
 * time took a third of its processor time.
 */
export async function interpretStatements(dir: string): Promise<void> {
  const settings = COMPILED.map((what) => `<compile_${what}>0</compile_${what}>`).join("");
  await mkdir(join(dir, "users.d"), { recursive: true });
  await writeFile(
    join(dir, "users.d", "interpreted.xml"),
    `<clickhouse><profiles><default>${settings}</default></profiles></clickhouse>`,
  );
}

/** A new folder with the databases, for a program that starts them only to fail after them. */
export async function makeDataDir(dataDir: string): Promise<string> {
  await mkdir(dataDir, { mode: 0o700 });
  await copyDatabases(dataDir);
  return dataDir;
}

/** A database of its own with this program's tables. */
export async function makeDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const { postgresUrl } = preparedStores() ?? notPrepared();
  const template = new URL(postgresUrl).pathname.slice(1);
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const url = new URL(postgresUrl);
  url.pathname = name;
  const server = new URL(postgresUrl);
  server.pathname = "postgres";
  const ask = (query: string) => onPostgres(server.href, (client) => client.query(query));
  await ask(`create database ${name} template ${template}`);
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => void (await ask(`drop database ${name} with (force)`)),
  };
}

function notPrepared(): never {
  throw new Error("no stores are prepared: the project needs prepare-stores.ts in its globalSetup");
}
