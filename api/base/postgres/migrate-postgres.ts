import type { Pool, PoolClient } from "pg";
import { assetUrl } from "../../../schemas/asset.js";
import {
  missingMigrations,
  readSqlFiles,
  type Applied,
  type Migration,
} from "../../../schemas/migrations.js";

/**
 * Migrates PostgreSQL to this program's tables: `schema.sql` and the files of `changes`, in the order of their numbers, each
 * once and in its own transaction. An advisory lock serialises concurrent processes. Throws if the database has a migration
 * that this program does not know, or one with another text.
 */
export async function migratePostgres(pg: Pool): Promise<void> {
  const migrations = await readMigrations();
  await asOnlyMigration(pg, ({ client }) => applyMissing(client, migrations));
}

/** The folder `changes` is made with the first change after the first release. */
export async function readMigrations(): Promise<Migration[]> {
  const schema = await readSqlFiles(assetUrl("api/base/postgres/"));
  return [...schema, ...(await readSqlFiles(assetUrl("api/base/postgres/changes/"), "changes/"))];
}

/** Runs `work` while no other process of this installation migrates PostgreSQL or ClickHouse. */
export async function asOnlyMigration(pg: Pool, work: (lock: MigrationLock) => Promise<void>): Promise<void> {
  const client = await pg.connect();
  // Without a listener, a connection that breaks between queries would end the process.
  const ignore = () => undefined;
  client.on("error", ignore);
  try {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await work({ client, check: () => check(client) });
  } finally {
    // Closing the session releases the lock, whatever the session's state.
    client.release(true);
  }
}

/** The session that holds the lock. */
export interface MigrationLock {
  client: PoolClient;
  /** Throws if the session has ended: another process may migrate then. */
  check: () => Promise<void>;
}

async function check(client: PoolClient): Promise<void> {
  try {
    await client.query("select 1");
  } catch (cause) {
    throw new Error(
      "the PostgreSQL session that holds the migration lock ended, so migrations were stopped; start the service again",
      { cause },
    );
  }
}

/** An arbitrary number that no other lock of the database uses. */
const LOCK = 7_236_001;

async function applyMissing(client: PoolClient, migrations: readonly Migration[]): Promise<void> {
  await requireUtf8(client);
  await requireReleased(client);
  await client.query(`
    create table if not exists migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<Applied>("select name, checksum from migrations");
  for (const migration of missingMigrations(migrations, rows)) await apply(client, migration);
}

/** In another encoding names of people and places fail, or sort and compare as bytes. */
async function requireUtf8(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("select getdatabaseencoding() as encoding");
  const encoding = rows[0]?.encoding;
  if (encoding === "UTF8") return;
  throw new Error(
    `the database uses the encoding ${encoding}; create it with encoding 'UTF8' template template0`,
  );
}

/** Databases from before the first release have another record of migrations. */
async function requireReleased(client: PoolClient): Promise<void> {
  const { rows } = await client.query("select where to_regclass('schema_migrations') is not null");
  if (rows.length === 0) return;
  throw new Error(
    "it is older than the first release: export the data with the program that created it, and import " +
      "the data into a new database",
  );
}

async function apply(client: PoolClient, { name, text, checksum }: Migration): Promise<void> {
  try {
    await client.query("begin");
    await client.query(text);
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [name, checksum]);
    await client.query("commit");
  } catch (error) {
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}
