import { v7 as uuidv7 } from "uuid";
import {
  ANNOTATION,
  ANNOTATION_TEXT_MAX,
  type AnnotationRecord,
} from "../../../../schemas/contracts/annotation.js";
import { type Nullable, isUuid, withoutNulls } from "../../../../schemas/formats.js";
import { Problem } from "../../../../schemas/problem.js";
import { SERVICE } from "../../../../schemas/contracts/audit-entry.js";
import { insertAuditEntry } from "../../../base/access/audit-entries.js";
import { selectList } from "../../../base/postgres/record-rows.js";
import { isBlocked } from "../../../base/access/visible-packages.js";
import { type Page, type Postgres, query, readCount } from "../../../base/postgres/query.js";

export interface NewAnnotation {
  ownerId: string;
  packageId: string | null;
  date: string;
  endDate?: string | undefined;
  text: string;
  url?: string | undefined;
  /** Names the release that it is of: one has one annotation, also after that was deleted. */
  releaseKey?: string;
}

/** The id; undefined where the release has one already. Lock the owner first: its packages could be deleted meanwhile. */
export async function insertAnnotation(pg: Postgres, made: NewAnnotation): Promise<string | undefined> {
  const text = `
    insert into annotations (id, owner_id, package_id, date, end_date, text, url, release_key)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict on constraint annotations_of_release do nothing returning id`;
  const { ownerId, packageId, date, endDate = null, url = null, releaseKey = null } = made;
  const values = [uuidv7(), ownerId, packageId, date, endDate, made.text, url, releaseKey];
  return (await query<{ id: string }>(pg, text, values))[0]?.id;
}

export interface SourceRelease {
  version: string;
  date: string;
  url: string;
  key: string;
}

/**
 * Adds the newest releases of one run of a source, as far as the owner has room for annotations. They have one entry in the
 * audit log: the first run finds hundreds.
 */
export async function insertReleases(
  pg: Postgres,
  {
    source,
    releases,
    annotationsMax,
  }: { source: ReleaseSource; releases: readonly SourceRelease[]; annotationsMax: number },
): Promise<void> {
  if (releases.length === 0) return;
  const text = `
    insert into annotations (id, owner_id, package_id, date, text, url, release_key)
    select r.id, s.owner_id, s.package_id, r.date, left(r.version, ${ANNOTATION_TEXT_MAX}), r.url, r.key
    from sources s, unnest($2::uuid[], $3::date[], $4::text[], $5::text[], $6::text[]) as r (id, date, version, url, key)
    where s.id = $1
      and not exists (select from annotations a where a.owner_id = s.owner_id and a.release_key = r.key)
    order by r.date desc
    limit greatest(0, $7::int - (
      select count(*) from annotations a join sources s on s.owner_id = a.owner_id
      where s.id = $1 and a.deleted_at is null
    ))
    on conflict on constraint annotations_of_release do nothing
    returning owner_id as "ownerId", package_id as "packageId", text`;
  const added = await query<AddedRelease>(pg, text, [
    source.id,
    releases.map(() => uuidv7()),
    releases.map(({ date }) => date),
    releases.map(({ version }) => version),
    releases.map(({ url }) => url),
    releases.map(({ key }) => key),
    annotationsMax,
  ]);
  await recordReleases(pg, source, added);
}

interface ReleaseSource {
  id: string;
  kind: string;
  name: string;
}

interface AddedRelease {
  ownerId: string;
  packageId: string | null;
  text: string;
}

async function recordReleases(
  pg: Postgres,
  { id, kind, name }: ReleaseSource,
  added: readonly AddedRelease[],
): Promise<void> {
  const [first] = added;
  if (first === undefined) return;
  const releases = added.slice(0, NAMES_RECORDED_MAX).map(({ text }) => text);
  const { ownerId, packageId } = first;
  await insertAuditEntry(pg, {
    ownerId,
    by: SERVICE,
    action: "annotations.add-releases",
    target: { kind: "source", id, name: `${kind} ${name}` },
    changes: { count: added.length, releases, ...(packageId !== null && { package_id: packageId }) },
  });
}

const NAMES_RECORDED_MAX = 10;

/** A release stays known, so that the same event or the next run of a source does not bring it back. */
export async function deleteAnnotation(pg: Postgres, id: string): Promise<void> {
  await query(pg, "delete from annotations where id = $1 and release_key is null", [id]);
  await query(pg, "update annotations set deleted_at = now() where id = $1", [id]);
}

export function countAnnotations(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from annotations where owner_id = $1 and deleted_at is null", [
    ownerId,
  ]);
}

interface OfOwner {
  accountId: string;
  ownerId: string;
}

/** Undefined also where the account is blocked from its package. */
export async function readAnnotation(
  pg: Postgres,
  { accountId, ownerId, id }: OfOwner & { id: string },
): Promise<AnnotationRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const text = `${SELECT} and a.id = $3`;
  const [row] = await query<Row>(pg, text, [accountId, ownerId, id]);
  return row && withoutNulls<AnnotationRecord>(row);
}

export interface AnnotationFilter {
  /** Days of which one is in the annotation. */
  range: { startDate: string; endDate: string } | undefined;
  /** Those of all packages as well. */
  packageId: string | undefined;
}

/**
 * The latest day first; one more than the page if there is a next. Throws `invalid-query` where the page is to begin after
 * one that the owner does not have any more.
 */
export async function listAnnotations(
  pg: Postgres,
  {
    accountId,
    ownerId,
    page,
    filter: { range, packageId },
  }: OfOwner & { page: Page; filter: AnnotationFilter },
): Promise<AnnotationRecord[]> {
  const after = page.after === undefined ? undefined : await dayOf(pg, { ownerId, id: page.after });
  const text = `${SELECT}
    and ($3::date is null or coalesce(a.end_date, a.date) >= $3) and ($4::date is null or a.date < $4)
    and ($5::uuid is null or a.package_id is null or a.package_id = $5)
    and ($6::date is null or (a.date, a.id) < ($6, $7::uuid))
    order by a.date desc, a.id desc limit $8`;
  const filtered = [range?.startDate ?? null, range?.endDate ?? null, packageId ?? null];
  const values = [accountId, ownerId, ...filtered, after ?? null, page.after ?? null, page.perPage + 1];
  return (await query<Row>(pg, text, values)).map(withoutNulls<AnnotationRecord>);
}

/** Also of a release that was taken off the charts. */
async function dayOf(pg: Postgres, { ownerId, id }: { ownerId: string; id: string }): Promise<string> {
  const text = "select date::text from annotations where owner_id = $1 and id = $2";
  const [row] = await query<{ date: string }>(pg, text, [ownerId, id]);
  if (row !== undefined) return row.date;
  throw new Problem("invalid-query", "after must be the id of an annotation in the current list.");
}

type Row = Nullable<AnnotationRecord>;

/** Those of packages that the account $1 is blocked from are left out. */
const SELECT = `
  select ${selectList(ANNOTATION, "a", {
    owner: "o.name",
    kind: "case when a.release_key is null then 'note' else 'release' end",
  })}
  from annotations a join owners o on o.id = a.owner_id
  where a.owner_id = $2 and a.deleted_at is null
    and not (${isBlocked({ account: "$1", owner: "a.owner_id", which: "blocked.package_id = a.package_id" })})`;
