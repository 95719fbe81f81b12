import { missingMigrations, type Applied, type Migration } from "../../schemas/migrations.js";
import type { ClickHouse } from "../../schemas/shards.js";
import { groupOldDays } from "./steps/group-old-days.js";
import { moveEventsByDay } from "./steps/move-events-by-day.js";
import { namePlatforms } from "./steps/name-platforms.js";
import { readMigrations } from "./read-migrations.js";
import { runStatement, type MigrationStep, type Run } from "./run-statement.js";
import { TABLE_CLAUSES, type Clauses } from "./table-clauses.js";

/**
 * Brings ClickHouse to this program's tables: every migration in the order of its number, once, and notes each in the
 * table `migrations`. One caller at a time.
 *
 * ClickHouse has no transactions, so every statement can run again: a migration that was cut short begins anew. An
 * installation from before the table `migrations` has the tables of its files, which run again and change nothing.
 * Throws when the database has migrations that this program does not know, or applied one with a
 * different text.
 */
export function migrateClickHouse(clickhouse: ClickHouse, options: MigrationOptions = {}): Promise<void> {
  return migrateReplicas([clickhouse], options);
}

/**
 * The same for servers that keep the same rows. Each has its own tables and its own notes, so each runs what makes,
 * drops or sets a table; what changes rows or columns is run once, and reaches the others by itself.
 */
export async function migrateReplicas(
  servers: readonly ClickHouse[],
  { known, clauses = TABLE_CLAUSES, checkLock = async () => undefined }: MigrationOptions = {},
): Promise<void> {
  const migrations = known ?? (await readMigrations());
  const missing = new Map<ClickHouse, ReadonlySet<Migration>>();
  for (const server of servers)
    missing.set(server, new Set(missingMigrations(migrations, await readApplied(server))));
  for (const migration of migrations) {
    const lacking = servers.filter((server) => missing.get(server)?.has(migration));
    const isNew = lacking.length === servers.length;
    if (lacking.length > 0) await apply(migration, lacking, { isNew, clauses, checkLock });
  }
}

export interface MigrationOptions {
  /** Instead of this program's. */
  known?: readonly Migration[] | undefined;
  clauses?: Clauses;
  /** Awaited before each statement of a migration. Throws once another process may migrate. */
  checkLock?: (() => Promise<void>) | undefined;
}

/** `server` must not be connected to this database, which may not exist yet. */
export async function createDatabase(server: ClickHouse, database: string): Promise<void> {
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

/** The notes of one server, which no other has. */
export async function readApplied(clickhouse: ClickHouse): Promise<Applied[]> {
  await runStatement(clickhouse, MIGRATIONS_TABLE);
  const query = "SELECT number, name, checksum FROM migrations FINAL ORDER BY number";
  return (await clickhouse.query({ query, format: "JSONEachRow" })).json<Applied>();
}

export async function noteApplied(
  clickhouse: ClickHouse,
  { number, name, checksum }: Applied,
): Promise<void> {
  await clickhouse.command({
    query:
      "INSERT INTO migrations (number, name, checksum) SELECT {number:UInt32}, {name:String}, {checksum:String}",
    query_params: { number, name, checksum },
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
  });
}

interface Applying {
  /** Whether no server of the shard has it. */
  isNew: boolean;
  clauses: Clauses;
  checkLock: () => Promise<void>;
}

async function apply(
  migration: Migration,
  servers: readonly ClickHouse[],
  { isNew, clauses, checkLock }: Applying,
): Promise<void> {
  const statements = migration.text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
  for (const statement of statements) {
    for (const clickhouse of isOfEachServer(statement) ? servers : servers.slice(0, isNew ? 1 : 0)) {
      const run: Run = async (text) => {
        await checkLock();
        await runStatement(clickhouse, text, clauses);
      };
      const step = STEP.exec(statement)?.[1];
      const working = step === undefined ? run(statement) : stepOf(step)({ clickhouse, run });
      await working.catch((cause: unknown) => {
        throw new Error(`migration ${migration.name} failed`, { cause });
      });
    }
  }
  for (const clickhouse of servers) await noteApplied(clickhouse, migration);
}

/** Makes, drops or sets a table; replicas share their rows and columns. */
function isOfEachServer(statement: string): boolean {
  const text = statement.replaceAll(/--[^\n]*/g, "").trim();
  return /^(CREATE|DROP)\b/.test(text) || /^ALTER \S+ MODIFY SETTING\b/.test(text);
}

/** A statement that stands for a function: `{step(name)}`. */
const STEP = /\{step\((\w+)\)\}/;

const STEPS: Readonly<Record<string, MigrationStep>> = {
  group_old_days: groupOldDays,
  move_events_by_day: moveEventsByDay,
  name_platforms: namePlatforms,
};

function stepOf(name: string): MigrationStep {
  const step = STEPS[name];
  if (step === undefined) throw new Error(`no migration step has the name ${name}`);
  return step;
}
