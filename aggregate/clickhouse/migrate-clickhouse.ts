import type { ClickHouseSettings } from "@clickhouse/client";
import { v7 as uuidv7 } from "uuid";
import { missingMigrations, type Applied, type Migration } from "../../schemas/migrations.js";
import { LOG_DAYS } from "../../schemas/records/event-log.js";
import type { ClickHouse } from "../../schemas/shards.js";
import { syncSince } from "../../schemas/sync-since.js";
import { readMigrations } from "./read-migrations.js";
import { startOf } from "./start-of.js";
import { syncDisks } from "./sync-disks.js";

export interface MigrationOptions {
  known?: readonly Migration[] | undefined;
  /** Whether several servers keep the same rows. */
  replicated?: boolean;
  /** Awaited before each statement. Throws once another process may migrate. */
  checkLock?: (() => Promise<void>) | undefined;
}

/**
 * Runs every migration in order, once; one caller at a time. ClickHouse has no transactions, so every
 * statement can run again: a migration that was cut short begins anew. Throws for migrations that this
 * program does not know, or with a different text. Replicas have tables and notes of their own, so each runs
 * what makes, drops or sets a table; what changes rows or columns runs once, and reaches the others by
 * itself. Where no server has notes, nothing is inserted: there are no rows, or they are yet to be fetched.
 *
 * No migration may use MODIFY QUERY: from then on ClickHouse derives other tokens for inserts into that view, so a batch
 * that was interrupted before the upgrade would be stored in it twice. Measured with 26.7.
 */
export async function migrateClickHouse(
  servers: readonly ClickHouse[],
  { known, replicated = false, checkLock = async () => undefined }: MigrationOptions = {},
): Promise<void> {
  const migrations = known ?? (await readMigrations());
  const applied = new Map<ClickHouse, Applied[]>();
  for (const server of servers) applied.set(server, await readApplied(server));
  const sync = replicated ? async () => undefined : await openSync(servers);
  const isFirst = [...applied.values()].every((notes) => notes.length === 0);
  for (const migration of migrations) {
    const lacking = servers.filter((server) =>
      missingMigrations(migrations, applied.get(server) ?? []).includes(migration),
    );
    const isNew = lacking.length === servers.length;
    if (lacking.length > 0) await apply(migration, lacking, { isFirst, isNew, replicated, checkLock });
    // Cut short before all of its tables are there, a database is new once more.
    if (!isFirst) await noteAllApplied(lacking, [migration], sync);
  }
  if (isFirst) await noteAllApplied(servers, migrations, sync);
}

type Sync = (server: ClickHouse) => Promise<void>;

/**
 * A power cut must not leave a note of tables or rows that it took away. Rejects if a server started again meanwhile: all is
 * done once more at the next start of the program. Replicas have them from one another.
 */
async function openSync(servers: readonly ClickHouse[]): Promise<Sync> {
  const starts = new Map<ClickHouse, number>();
  for (const server of servers) starts.set(server, await startOf(server));
  return (server) => {
    const one = { sync: () => syncDisks(server), startedAt: async () => [await startOf(server)] };
    return syncSince(one, [starts.get(server) ?? 0]);
  };
}

async function noteAllApplied(
  servers: readonly ClickHouse[],
  migrations: readonly Migration[],
  sync: Sync,
): Promise<void> {
  for (const server of servers) {
    await sync(server);
    for (const migration of migrations) await noteApplied(server, migration);
  }
}

interface Applying {
  isFirst: boolean;
  isNew: boolean;
  replicated: boolean;
  checkLock: () => Promise<void>;
}

async function apply(
  migration: Migration,
  servers: readonly ClickHouse[],
  { isFirst, isNew, replicated, checkLock }: Applying,
): Promise<void> {
  const statements = migration.text.split(/;\s*$/m).map(withoutLineComments);
  try {
    for (const statement of statements.filter(
      (text) => text !== "" && !(isFirst && text.startsWith("INSERT")),
    ))
      for (const server of isOfEachServer(statement) ? servers : servers.slice(0, isNew ? 1 : 0)) {
        await checkLock();
        await run(server, spellStatement(statement, { replicated }));
      }
  } catch (cause) {
    throw new Error(`migration ${migration.name} failed`, { cause });
  }
}

function withoutLineComments(statement: string): string {
  return statement.replaceAll(/^ *--.*$/gm, "").trim();
}

/** Makes, drops or sets a table; replicas share their rows and columns. */
function isOfEachServer(statement: string): boolean {
  return /^(CREATE|DROP)\b/.test(statement) || /^ALTER TABLE \S+ MODIFY SETTING\b/.test(statement);
}

/** Whatever depends on how many servers keep a table is here, and not in the statements. */
export function spellStatement(statement: string, { replicated }: { replicated: boolean }): string {
  const spelled = statement
    .replaceAll(/\{deduplication\((\d+)\)\}/g, (_, inserts: string) => deduplication(Number(inserts)))
    .replaceAll("{unique}", () => uuidv7());
  // A replica's place in Keeper and its name there are the server's own.
  return replicated && ENGINE.test(spelled) ? replicatedTable(spelled) : spelled;
}

const ENGINE = /^ENGINE = /m;

function replicatedTable(statement: string): string {
  const [table, settings] = statement.replace(ENGINE, "ENGINE = Replicated").split(/^SETTINGS /m);
  return [`${table?.trimEnd()}\nSETTINGS ${ON_DISK}`, settings].filter(Boolean).join(", ");
}

/**
 * A server tells Keeper of a part once it is on its disk. Otherwise a power cut may take a part that no other server has
 * fetched yet. ClickHouse then puts an empty part in its place, which also answers the insert that waits for a quorum.
 */
const ON_DISK =
  "fsync_after_insert = 1, fsync_part_directory = 1, " +
  "min_compressed_bytes_to_fsync_after_fetch = 1, min_compressed_bytes_to_fsync_after_merge = 1";

/**
 * Drops an insert that repeats one of the latest `inserts`; ClickHouse's default is none. A part that a merge
 * left empty stays, because ClickHouse forgets its tokens with it. Replicas also forget by age, counted from
 * the newest insert: twice the time that the event log keeps a record is longer than any repeat waits.
 */
function deduplication(inserts: number): string {
  return (
    `non_replicated_deduplication_window = ${inserts}, remove_empty_parts = 0, ` +
    `replicated_deduplication_window = ${inserts}, replicated_deduplication_window_seconds = ${2 * LOG_DAYS * 24 * 60 * 60}`
  );
}

/** `server` must not be connected to this database, which may not exist yet. */
export async function createDatabase(server: ClickHouse, database: string): Promise<void> {
  await server.command({
    query: "CREATE DATABASE IF NOT EXISTS {database:Identifier} ENGINE = Atomic",
    query_params: { database },
  });
}

export async function readApplied(server: ClickHouse): Promise<Applied[]> {
  await run(server, MIGRATIONS_TABLE);
  const query = "SELECT name, checksum FROM migrations FINAL ORDER BY name";
  return (await server.query({ query, format: "JSONEachRow" })).json<Applied>();
}

const MIGRATIONS_TABLE = `
  CREATE TABLE IF NOT EXISTS migrations
  (
    name       String,
    checksum   String,
    applied_at DateTime DEFAULT now()
  )
  ENGINE = ReplacingMergeTree
  ORDER BY name`;

export async function noteApplied(server: ClickHouse, { name, checksum }: Applied): Promise<void> {
  await server.command({
    query: "INSERT INTO migrations (name, checksum) SELECT {name:String}, {checksum:String}",
    query_params: { name, checksum },
    clickhouse_settings: { async_insert: 0, wait_end_of_query: 1 },
  });
}

async function run(server: ClickHouse, query: string): Promise<void> {
  await server.command({ query, clickhouse_settings: KEPT_ALIVE });
}

/** Headers come while a long statement runs: a client gives up on a connection that is silent for minutes. */
const KEPT_ALIVE: ClickHouseSettings = {
  wait_end_of_query: 1,
  send_progress_in_http_headers: 1,
  http_headers_progress_interval_ms: "60000",
};
