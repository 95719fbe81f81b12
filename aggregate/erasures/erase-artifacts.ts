import type { Shards, ClickHouse, Shard } from "../../schemas/shards.js";
import { syncSince } from "../../schemas/sync-since.js";
import { startRepeating, type Repetition } from "../../schemas/async/pause.js";
import { hasRow } from "../queries/has-row.js";
import { isRewriting } from "../retention/delete-rows.js";
import { readQuery } from "../read-query.js";

export interface EraserDependencies extends Repetition {
  shards: Shards;
  /** Statements of api/features/erasures/deleted-artifacts.ts. */
  store: {
    dueOwners(): Promise<string[]>;
    /**
     * Deleted artifacts that may have events and to which no import writes any more: imports from before the
     * deletion are settled, or too old to wait for.
     */
    dueArtifacts(ownerId: string): Promise<string[]>;
    /** The imports into these artifacts alone, a page of them by id. */
    importsInto(
      artifacts: readonly string[],
      page: { after: string | undefined; limit: number },
    ): Promise<string[]>;
    /** Forgets the samples of these imports' logs. The counts stay. */
    emptySamples(imports: readonly string[]): Promise<void>;
    /** Imports that are retracted and settled, or went with their owner, and whose logs may still be there. */
    importsWithoutLog(limit: number): Promise<string[]>;
    /** Nothing was found of their logs: forgets the samples, too. */
    putLogsErased(imports: readonly string[]): Promise<void>;
    /** Runs `work` while the owner has no settlement in any process; false if there is one. */
    asOnlySettlement(ownerId: string, work: () => Promise<void>): Promise<boolean>;
    /** Events were found and are being erased. The artifacts become due again, after a longer time each time. */
    putFound(artifacts: readonly string[]): Promise<void>;
    /**
     * No events were found. Due once more an hour after the deletion, for delayed events; then erased for
     * good.
     */
    putClean(artifacts: readonly string[]): Promise<void>;
  };
  /** Called when nothing is left of these artifacts. */
  onErased?: (artifacts: readonly string[]) => void;
}

/** Also erases the logs of imports that are retracted or removed. Any number of processes may run it. */
export function startEraser(dependencies: EraserDependencies): AsyncDisposable {
  return startRepeating(async (signal) => {
    await eraseDue(signal, dependencies);
    await eraseLogsAlone(dependencies);
  }, dependencies);
}

/** Blocks the owner's settlement: when only part is erased, it could restore an overridden version. */
async function eraseDue(signal: AbortSignal, { shards, store, onErased }: EraserDependencies): Promise<void> {
  for (const ownerId of await store.dueOwners()) {
    if (signal.aborted) return;
    await store.asOnlySettlement(ownerId, async () => {
      const artifacts = await store.dueArtifacts(ownerId);
      if (artifacts.length === 0) return;
      const start = await shards.startedAt();
      const hadEvents = await eraseArtifacts(shards, artifacts);
      const hadLogs = await eraseLogs(artifacts, { shards, store });
      if (hadEvents || hadLogs) return store.putFound(artifacts);
      await syncSince(shards, start);
      await store.putClean(artifacts);
      onErased?.(artifacts);
    });
  }
}

/** The refused lines of an import go with its events, or with its owner. */
async function eraseLogsAlone({ shards, store }: EraserDependencies): Promise<void> {
  const imports = await store.importsWithoutLog(IMPORTS_PER_PAGE);
  if (imports.length === 0) return;
  const start = await shards.startedAt();
  if (await eraseImportLogs(shards, imports)) return;
  await syncSince(shards, start);
  await store.putLogsErased(imports);
}

/** The logs of imports into these artifacts hold refused lines as they were sent. The samples in their records go as well. */
async function eraseLogs(
  artifacts: readonly string[],
  { shards, store }: Pick<EraserDependencies, "shards" | "store">,
): Promise<boolean> {
  let found = false;
  for await (const imports of importPages((page) => store.importsInto(artifacts, page))) {
    if (await eraseImportLogs(shards, imports)) found = true;
    await store.emptySamples(imports);
  }
  return found;
}

/**
 * Erases every row of these packages and pixels (UUIDs), and answers whether there was any: parts are
 * rewritten in ClickHouse's own time, so call it again. Nothing may write or settle these artifacts
 * meanwhile.
 */
export async function eraseArtifacts(all: Shards, artifacts: readonly string[]): Promise<boolean> {
  let found = false;
  for (const shard of all.shards)
    for (const table of await artifactTables(shard.tables))
      if (await eraseRows(shard, { ...table, ids: artifacts })) found = true;
  await all.requireEvery();
  return found;
}

/** The same for the log entries of these imports (UUIDs). */
export async function eraseImportLogs(all: Shards, imports: readonly string[]): Promise<boolean> {
  let found = false;
  for (const shard of all.shards)
    if (await eraseRows(shard, { table: "import_log", column: "import_id", ids: imports })) found = true;
  await all.requireEvery();
  return found;
}

/** Asks every server, and rejects if one is down: it has rows until it has rewritten its own parts. */
async function eraseRows(
  { servers, tables }: Shard,
  rows: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  const found = await Promise.all(servers.map((server) => hasRows(server, rows)));
  if (!found.includes(true)) return false;
  // Asked for already, mostly: asking every second would only rewrite the same parts once more.
  if (await isRewriting(tables, rows.table)) return true;
  await tables.command({
    query: "ALTER TABLE {table:Identifier} DELETE WHERE {column:Identifier} IN {ids:Array(UUID)}",
    query_params: { ...rows },
    clickhouse_settings: { mutations_sync: "0" },
  });
  return true;
}

interface ArtifactTable {
  table: string;
  column: string;
}

async function artifactTables(clickhouse: ClickHouse): Promise<ArtifactTable[]> {
  const answer = await clickhouse.query({
    query: await readQuery("erasures/artifact-tables"),
    format: "JSONEachRow",
  });
  return answer.json<ArtifactTable>();
}

function hasRows(
  clickhouse: ClickHouse,
  { table, column, ids }: ArtifactTable & { ids: readonly string[] },
): Promise<boolean> {
  return hasRow(clickhouse, {
    query: "SELECT 1 FROM {table:Identifier} WHERE {column:Identifier} IN {ids:Array(UUID)} LIMIT 1",
    params: { table, column, ids },
  });
}

/** ClickHouse receives the ids in a URL. */
export const IMPORTS_PER_PAGE = 1_000;

export async function* importPages(
  read: (page: { after: string | undefined; limit: number }) => Promise<string[]>,
): AsyncGenerator<string[]> {
  let after: string | undefined;
  do {
    const imports = await read({ after, limit: IMPORTS_PER_PAGE });
    if (imports.length > 0) yield imports;
    after = imports.length < IMPORTS_PER_PAGE ? undefined : imports.at(-1);
  } while (after !== undefined);
}
