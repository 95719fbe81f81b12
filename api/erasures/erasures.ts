import { v7 as uuidv7 } from "uuid";
import type { ClientIdKind, ErasureRecord } from "../../schemas/contracts/erasure.js";
import { Problem } from "../../schemas/problem.js";
import type { Page } from "../postgres/page.js";
import { query, utc, type Postgres } from "../postgres/query.js";

/** The erasures that are under way, of one owner: reads name each of them. */
const OPEN_MAX = 100;

/**
 * Asks for the erasure of a client's events; `seal` encrypts the client's id for the erasure. The owner must be locked.
 * Answers the erasure's id. Throws `too-many-erasures`.
 */
export async function insertErasure(
  pg: Postgres,
  { ownerId, kind, seal }: { ownerId: string; kind: ClientIdKind; seal: (erasure: string) => Buffer },
): Promise<string> {
  const id = uuidv7();
  const text = `
    insert into erasures (id, owner_id, kind, client)
    select $1, $2, $3, $4
    where (select count(*) from erasures where owner_id = $2 and finished_at is null) < ${OPEN_MAX} returning 1`;
  if ((await query(pg, text, [id, ownerId, kind, seal(id)])).length > 0) return id;
  throw new Problem("too-many-erasures", `${OPEN_MAX} erasures are under way; ask again once some are done.`);
}

/** Newest first; one more than the page if there is a next page. */
export async function listErasures(
  pg: Postgres,
  { ownerId, page }: { ownerId: string; page: Page },
): Promise<ErasureRecord[]> {
  const text = `${SELECT} where e.owner_id = $1 and ($2::uuid is null or e.id < $2) order by e.id desc limit $3`;
  return query<Row>(pg, text, [ownerId, page.after ?? null, page.perPage + 1]);
}

export async function readErasure(
  pg: Postgres,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<ErasureRecord | undefined> {
  const [row] = await query<Row>(pg, `${SELECT} where e.owner_id = $1 and e.id = $2`, [ownerId, id]);
  return row;
}

type Row = ErasureRecord & Record<string, unknown>;

const SELECT = `
  select e.id, o.name as owner, e.kind as client, case when e.finished_at is null then 'erasing' else 'done' end as status,
    e.events::float8 as events_erased, e.lines::float8 as rejected_lines_erased,
    ${utc("e.asked_at")} as created_at, ${utc("e.finished_at")} as finished_at
  from erasures e join owners o on o.id = e.owner_id`;
