import { v7 as uuidv7 } from "uuid";
import { SOURCE, type SourceKind, type SourceRecord } from "../../../schemas/contracts/source.js";
import { type Nullable, withoutNulls } from "../../../schemas/formats.js";
import { isBlocked } from "../../base/access/visible-packages.js";
import { type Page, type Postgres, query, readCount, utc } from "../../base/postgres/query.js";
import { insertRow, selectList } from "../../base/postgres/record-rows.js";
import { isPaused } from "./registry-turns.js";

export interface SourceFields {
  kind: SourceKind;
  name: string;
  packageId: string | null;
  enabled: boolean;
}

/** Its first run is due at once. The owner must be locked, because the package could be deleted meanwhile. */
export async function insertSource(
  pg: Postgres,
  { ownerId, kind, name, packageId, enabled }: SourceFields & { ownerId: string },
): Promise<string> {
  const id = uuidv7();
  await insertRow(pg, "sources", { id, owner_id: ownerId, kind, name, package_id: packageId, enabled });
  await askForRun(pg, id);
  return id;
}

/** Enabled again, or another thing under another name, it is due at once. */
export async function updateSource(
  pg: Postgres,
  { id, kind, name, packageId, enabled }: SourceFields & { id: string },
): Promise<void> {
  const text = `
    update sources set kind = $2, name = $3, package_id = $4, enabled = $5, updated_at = clock_timestamp(),
      etag = case when (kind, name) = ($2, $3) then etag end,
      next_run_at = case when not $5 then null when enabled and (kind, name) = ($2, $3) then next_run_at else now() end
    where id = $1 and (kind, name, package_id, enabled) is distinct from ($2::text, $3::text, $4::uuid, $5::boolean)`;
  await query(pg, text, [id, kind, name, packageId, enabled]);
}

export async function deleteCounts(pg: Postgres, sourceId: string): Promise<void> {
  await query(pg, "delete from reported_counts where source_id = $1", [sourceId]);
  await query(pg, "delete from source_counters where source_id = $1", [sourceId]);
}

/** Also deletes its counts. */
export async function deleteSource(pg: Postgres, id: string): Promise<void> {
  await query(pg, "delete from sources where id = $1", [id]);
}

/** Whether the owner has this source. */
export async function hasSource(
  pg: Postgres,
  { ownerId, kind, name }: Pick<SourceFields, "kind" | "name"> & { ownerId: string },
): Promise<boolean> {
  const text = "select from sources where owner_id = $1 and kind = $2 and name = $3";
  return (await query(pg, text, [ownerId, kind, name])).length > 0;
}

/** False when it is disabled. */
export async function askForRun(pg: Postgres, id: string): Promise<boolean> {
  const text = "update sources set next_run_at = now() where id = $1 and enabled returning id";
  return (await query(pg, text, [id])).length > 0;
}

export function countSources(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from sources where owner_id = $1", [ownerId]);
}

interface OfOwner {
  accountId: string;
  ownerId: string;
}

/** Undefined also where the account is blocked from its package. */
export async function readSource(
  pg: Postgres,
  { accountId, ownerId, id }: OfOwner & { id: string },
): Promise<SourceRecord | undefined> {
  const text = `${SELECT} where s.owner_id = $2 and s.id = $3 and not (${IS_HIDDEN})`;
  const [row] = await query<Nullable<SourceRecord>>(pg, text, [accountId, ownerId, id]);
  return row && withoutNulls<SourceRecord>(row);
}

/** Newest first, without those of packages that the account is blocked from; one more than the page if there is a next. */
export async function listSources(
  pg: Postgres,
  { accountId, ownerId, page }: OfOwner & { page: Page },
): Promise<SourceRecord[]> {
  const text = `${SELECT}
    where s.owner_id = $2 and ($3::uuid is null or s.id < $3) and not (${IS_HIDDEN}) order by s.id desc limit $4`;
  const values = [accountId, ownerId, page.after ?? null, page.perPage + 1];
  return (await query<Nullable<SourceRecord>>(pg, text, values)).map(withoutNulls<SourceRecord>);
}

/** Of a source `s`: the account `$1` is blocked from its package. */
export const IS_HIDDEN = isBlocked({
  account: "$1",
  owner: "s.owner_id",
  which: "blocked.package_id = s.package_id",
});

/** While the registry is paused, a source that is due says so, and waits for the end of that. */
const SELECT = `
  select ${selectList(SOURCE, "s", {
    owner: "o.name",
    last_error: "case when s.next_run_at < r.paused_until then r.pause_reason else s.last_error end",
    next_run_at: utc("case when s.next_run_at < r.paused_until then r.paused_until else s.next_run_at end"),
    first_date: "counted.first_date::text",
    last_date: "counted.last_date::text",
  })}
  from sources s join owners o on o.id = s.owner_id
  left join registries r on r.kind = s.kind and ${isPaused("r")}
  cross join lateral (
    select min(date) as first_date, max(date) as last_date from reported_counts c where c.source_id = s.id
  ) counted`;

export function sourceTarget({ id, kind, name }: SourceRecord) {
  return { kind: "source", id, name: `${kind} ${name}` } as const;
}
