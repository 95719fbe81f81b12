import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Pool, PoolClient } from "pg";
import { assetUrl } from "../../schemas/asset.js";

/**
 * Brings PostgreSQL to this program's tables: every file of `api/postgres` in the order of its number, each in a
 * transaction of its own, once. Several processes may start at once: an advisory lock lets one work at a time.
 * Throws when the database has migrations that this program does not know, or had another text of one.
 */
export async function migratePostgres(pg: Pool): Promise<void> {
  const migrations = await readMigrations(assetUrl("api/postgres/"));
  const client = await pg.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    await applyMissing(client, migrations);
  } finally {
    // Closing the session gives the lock back whatever state the session is in.
    client.release(true);
  }
}

export interface Migration {
  number: number;
  name: string;
  text: string;
  /** SHA-256 of the text, hexadecimal. */
  checksum: string;
}

/** What the database says was applied. */
export type Applied = Pick<Migration, "number" | "name" | "checksum">;

/** Those still to apply. Throws a sentence for a person where the database does not fit this program. */
export function missingMigrations(known: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]));
  for (const { number, name, checksum } of applied) {
    const migration = byNumber.get(number);
    if (migration === undefined) {
      throw new Error(`the database is newer than this program: it has migration ${name}, unknown here`);
    }
    if (migration.checksum !== checksum) {
      throw new Error(`migration ${name} was applied with another text than this program's`);
    }
  }
  const done = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !done.has(number));
}

/** Any constant will do, as long as nothing else in the database locks on it. */
const LOCK = 7_236_001;

async function applyMissing(client: PoolClient, migrations: readonly Migration[]): Promise<void> {
  await client.query(`
    create table if not exists schema_migrations (
      number integer primary key, name text not null, checksum text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<Applied>(
    "select number, name, checksum from schema_migrations order by number",
  );
  for (const migration of missingMigrations(migrations, rows)) await apply(client, migration);
}

async function apply(client: PoolClient, { number, name, text, checksum }: Migration): Promise<void> {
  try {
    await client.query("begin");
    await client.query(text);
    await client.query("insert into schema_migrations (number, name, checksum) values ($1, $2, $3)", [
      number,
      name,
      checksum,
    ]);
    await client.query("commit");
  } catch (error) {
    throw new Error(`migration ${name} failed`, { cause: error });
  }
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{3}-.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex");
      return { number: Number(name.slice(0, 3)), name, text, checksum };
    }),
  );
}
