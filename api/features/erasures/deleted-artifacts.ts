import { NIL_UUID } from "../../../schemas/formats.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";
import { emptySamples } from "../imports/import-progress.js";

/** ClickHouse receives the ids in a URL, which has room for about 2,900. */
const ARTIFACTS_MAX = 1_000;

/**
 * An import that began after the deletion cannot find the artifact. The minute covers caches and a deletion that waited
 * for a lock. An import that never ends must not delay the erasure for ever.
 */
const DUE = `
  d.erased_at is null and d.due_at <= now() and (
    d.deleted_at < now() - interval '1 day' or not exists (
      select from imports i
      where i.owner_id = d.owner_id and i.created_at < d.deleted_at + interval '1 minute'
        and ${IS_UNSETTLED}))`;

export async function dueOwners(pg: Postgres): Promise<string[]> {
  const text = `select distinct owner_id as id from deleted_artifacts d where ${DUE}`;
  return (await query<{ id: string }>(pg, text)).map(({ id }) => id);
}

export async function dueArtifacts(pg: Postgres, ownerId: string): Promise<string[]> {
  const text = `select id from deleted_artifacts d where d.owner_id = $1 and ${DUE} order by due_at limit $2`;
  return (await query<{ id: string }>(pg, text, [ownerId, ARTIFACTS_MAX])).map(({ id }) => id);
}

export async function importsInto(
  pg: Postgres,
  artifacts: readonly string[],
  { after = NIL_UUID, limit }: { after: string | undefined; limit: number },
): Promise<string[]> {
  const text = "select id from imports where artifact_id = any($1::uuid[]) and id > $2 order by id limit $3";
  return (await query<{ id: string }>(pg, text, [artifacts, after, limit])).map(({ id }) => id);
}

/** Enrichment may write the log of a chunk just before it sees the retraction, or the removal of the owner. */
export async function importsWithoutLog(pg: Postgres, limit: number): Promise<string[]> {
  const text = `
    (select id from imports
      where retracted and not log_erased and status <> 'importing' and chunks_settled >= chunks_written
        and updated_at < now() - interval '5 seconds'
      order by id limit $1)
    union all
    (select id from removed_imports where not log_erased and removed_at < now() - interval '5 seconds'
      order by id limit $1)
    order by id limit $1`;
  return (await query<{ id: string }>(pg, text, [limit])).map(({ id }) => id);
}

/** In this order, so that a crash in between loses nothing: the import is looked for again. */
export async function putLogsErased(pg: Postgres, imports: readonly string[]): Promise<void> {
  await emptySamples(pg, imports);
  for (const table of ["imports", "removed_imports"])
    await query(pg, `update ${table} set log_erased = true where id = any($1::uuid[])`, [imports]);
}

export async function putFound(pg: Postgres, artifacts: readonly string[]): Promise<void> {
  const text = `
    update deleted_artifacts
    set rounds = rounds + 1, due_at = now() + make_interval(secs => least(600, 2 ^ least(rounds, 10)))
    where id = any($1::uuid[])`;
  await query(pg, text, [artifacts]);
}

export async function putClean(pg: Postgres, artifacts: readonly string[]): Promise<void> {
  const text = `
    update deleted_artifacts
    set rounds = 0, due_at = deleted_at + interval '1 hour',
      erased_at = case when deleted_at < now() - interval '1 hour' then now() end
    where id = any($1::uuid[])`;
  await query(pg, text, [artifacts]);
}
