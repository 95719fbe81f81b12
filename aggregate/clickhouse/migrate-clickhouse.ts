import type { ClickHouseClient } from "@clickhouse/client";
import { missingMigrations, type Applied, type Migration } from "../../schemas/migrations.js";
import { moveEventsByDay } from "./steps/move-events-by-day.js";
import { namePlatforms } from "./steps/name-platforms.js";
import { readMigrations } from "./read-migrations.js";
import { runStatement, type MigrationStep, type Run } from "./run-statement.js";

/**
 * Brings ClickHouse to this program's tables: every migration in the order of its number, once, and notes each in the
 * table `migrations`. One caller at a time.
 *
 * ClickHouse has no transactions, so every statement can run again: a migration that was cut short begins anew. An
 * installation from before the table `migrations` has the tables of its files, which run again and change nothing.
 * Throws when the database has migrations that this program does not know, or applied one with a
 * different text.
 */
export async function migrateClickHouse(
  clickhouse: ClickHouseClient,
  { known, checkLock = async () => undefined }: MigrationOptions = {},
): Promise<void> {
  const migrations = known ?? (await readMigrations());
  await runStatement(clickhouse, MIGRATIONS_TABLE);
  for (const migration of missingMigrations(migrations, await readApplied(clickhouse)))
    await apply(clickhouse, migration, checkLock);
}

export interface MigrationOptions {
  /** Instead of this program's. */
  known?: readonly Migration[];
  /** Awaited before each statement of a migration. Throws once another process may migrate. */
  checkLock?: (() => Promise<void>) | undefined;
}

/** `server` must not be connected to this database, which may not exist yet. */
export async function createDatabase(server: ClickHouseClient, database: string): Promise<void> {
  await server.command({
    query: "CREATE DATABASE IF NOT EXISTS {database:Identifier} ENGINE = Atomic",
    query_params: { database },
  });
}

const MIGRATIONS_TABLE = `
  CREATE {new_table(migrations)}
  (
    number     UInt32,
    name       String,
    checksum   String,
    applied_at DateTime DEFAULT now()
  )
  ENGINE = {replacing}
  ORDER BY number`;

async function readApplied(clickhouse: ClickHouseClient): Promise<Applied[]> {
  const query = "SELECT number, name, checksum FROM migrations FINAL ORDER BY number";
  return (await clickhouse.query({ query, format: "JSONEachRow" })).json<Applied>();
}

async function apply(
  clickhouse: ClickHouseClient,
  { number, name, text, checksum }: Migration,
  checkLock: () => Promise<void>,
): Promise<void> {
  const run: Run = async (statement) => {
    await checkLock();
    await runStatement(clickhouse, statement);
  };
  const statements = text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
  for (const statement of statements) {
    const step = STEP.exec(statement)?.[1];
    const working = step === undefined ? run(statement) : stepOf(step)({ clickhouse, run });
    await working.catch((cause: unknown) => {
      throw new Error(`migration ${name} failed`, { cause });
    });
  }
  await clickhouse.command({
    query:
      "INSERT INTO migrations (number, name, checksum) SELECT {number:UInt32}, {name:String}, {checksum:String}",
    query_params: { number, name, checksum },
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
  });
}

/** A statement that stands for a function: `{step(name)}`. */
const STEP = /\{step\((\w+)\)\}/;

const STEPS: Readonly<Record<string, MigrationStep>> = {
  move_events_by_day: moveEventsByDay,
  name_platforms: namePlatforms,
};

function stepOf(name: string): MigrationStep {
  const step = STEPS[name];
  if (step === undefined) throw new Error(`no migration step has the name ${name}`);
  return step;
}
