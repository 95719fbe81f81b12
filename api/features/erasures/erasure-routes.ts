import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import {
  CLIENT_ID_KINDS,
  type ClientIdKind,
  ERASURE,
  ERASURE_CREATE,
  type ErasureCreate,
  type ErasureRecord,
  parseErasureCreate,
} from "../../../schemas/contracts/erasure.js";
import { UPLOAD_LEASE_SECONDS } from "../../../schemas/records/import-store.js";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import { ownerFor, wholeOwnerFor } from "../../base/access/authorise.js";
import { lockOwner } from "../../base/access/owners.js";
import { putLocation } from "../../base/http/answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import type { Sealer } from "../../base/identity/tokens.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Page, type Postgres, query, utc } from "../../base/postgres/query.js";

interface ErasureRoutesDeps {
  pg: Pool;
  sealer: Pick<Sealer, "seal">;
}

const ID = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";
const CLIENT = { endpoint_id: "0f343b0931126a20f133d67c2b018a3b" };
const EXAMPLE = {
  id: ID,
  owner: "acme",
  client: "endpoint_id",
  status: "erasing",
  waiting_for: "event-log",
  events_erased: 12,
  rejected_lines_erased: 0,
  created_at: "2026-08-04T13:58:26.021037Z",
  finished_at: null,
};
const PATH = "/v2/:owner/erasures";

export function erasureRoutes({ pg, sealer }: ErasureRoutesDeps): Route[] {
  return [
    route({
      method: "POST",
      path: PATH,
      action: "erasures.create",
      operation: {
        id: "createErasure",
        summary: "Erase the events of one client",
        description:
          "Removes all events of the client in the owner's packages and pixels that were received before " +
          "this request, as if they had never been sent. Aggregates, statistics and companies are " +
          "updated, and events of other clients that these events had replaced are restored. Texts of " +
          "rejected lines that contain its IP address are removed too. Imports that started before the " +
          "request are covered completely; later imports are not. Live events that arrive while the " +
          "status is `erasing` may be removed as well. Poll the record until its status is `done`.",
        body: { schema: ERASURE_CREATE, example: CLIENT },
        answers: { 201: { description: "The erasure has started", schema: ERASURE, example: EXAMPLE } },
        problems: ["too-many-erasures"],
      },
      handle: (call) => createErasure(call, { pg, sealer }),
    }),
    route({
      method: "GET",
      path: PATH,
      action: "erasures.read",
      operation: {
        id: "listErasures",
        summary: "List erasures, newest first",
        query: PAGE_QUERY,
        answers: {
          200: pageAnswer({ name: "erasures", record: ERASURE, example: EXAMPLE }),
        },
      },
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        const rows = await listErasures(pg, { ownerId, page });
        ctx.body = pageBody(ctx, { name: "erasures", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/:erasure`,
      action: "erasures.read",
      operation: {
        id: "getErasure",
        summary: "Get an erasure and its progress",
        path: { erasure: { schema: { type: "string", format: "uuid" }, description: "Id of the erasure" } },
        answers: { 200: { description: "The erasure", schema: ERASURE, example: EXAMPLE } },
      },
      async handle({ ctx, account, action, param }) {
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        ctx.body = await erasureOf(pg, { ownerId, id: param("erasure") });
      },
    }),
  ];
}

/** The audit entry names the erasure and never the client. */
async function createErasure(
  { ctx, account, action, param, record }: Call<"erasures.create">,
  { pg, sealer }: ErasureRoutesDeps,
): Promise<void> {
  const sent = await readJson(ctx, parseErasureCreate);
  const { kind, clientId } = clientOf(sent);
  const made = await inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { id: ownerId, name } = await wholeOwnerFor(client, account, param("owner"), action);
    const seal = (erasure: string) => sealer.seal(clientId, erasure);
    const id = await insertErasure(client, { ownerId, kind, seal });
    await record(client, { ownerId, target: { kind: "erasure", id, name: kind } });
    return { id, ownerId, name };
  });
  ctx.status = 201;
  putLocation(ctx, `/v2/${encodeURIComponent(made.name)}/erasures/${made.id}`);
  ctx.body = await erasureOf(pg, made);
}

function clientOf(sent: ErasureCreate) {
  const kind = CLIENT_ID_KINDS.find((each) => sent[each] !== undefined) ?? "origin_id";
  return { kind, clientId: (sent[kind] ?? "").toLowerCase() };
}

async function erasureOf(pg: Postgres, { ownerId, id }: { ownerId: string; id: string }) {
  const found = isUuid(id) ? await readErasure(pg, { ownerId, id }) : undefined;
  if (found === undefined) throw new Problem("not-found", `The erasure ${id.slice(0, 60)} does not exist.`);
  return found;
}

/** The erasures that are under way, of one owner: reads name each of them. */
const OPEN_MAX = 100;
/** How far the last stamp of an upload that broke off may be behind its chunks: it was told at the last lease. */
const UNKNOWN_MS = 2 * UPLOAD_LEASE_SECONDS * 1_000;

/** The owner must be locked. Answers the erasure's id. Throws `too-many-erasures`. */
export async function insertErasure(
  pg: Postgres,
  { ownerId, kind, seal }: { ownerId: string; kind: ClientIdKind; seal: (erasure: string) => Buffer },
): Promise<string> {
  const id = uuidv7();
  const text = `
    insert into erasures (id, owner_id, kind, client, stamp, imports, collectors)
    select $1, $2, $3, $4, stamp,
      array(
        select i.id from imports i
        where owner_id = $2 and (status = 'importing' or (status = 'aborted' and last_stamp + ${UNKNOWN_MS} > stamp))
      ),
      (select coalesce(jsonb_object_agg(name, flushes), '{}') from collectors)
    from (
      select greatest(ceil(extract(epoch from clock_timestamp()) * 1000)::bigint, max(last_stamp) + 1) as stamp
      from imports where owner_id = $2
    ) asked
    where (select count(*) from erasures where owner_id = $2 and finished_at is null) < ${OPEN_MAX} returning 1`;
  if ((await query(pg, text, [id, ownerId, kind, seal(id)])).length > 0) return id;
  throw new Problem(
    "too-many-erasures",
    `${OPEN_MAX} erasures are running. Try again when some of them are done.`,
  );
}

/** Newest first; one more than the page if there is a next page. */
async function listErasures(
  pg: Postgres,
  { ownerId, page }: { ownerId: string; page: Page },
): Promise<ErasureRecord[]> {
  const text = `${SELECT} where e.owner_id = $1 and ($2::uuid is null or e.id < $2) order by e.id desc limit $3`;
  return query<Row>(pg, text, [ownerId, page.after ?? null, page.perPage + 1]);
}

async function readErasure(
  pg: Postgres,
  { ownerId, id }: { ownerId: string; id: string },
): Promise<ErasureRecord | undefined> {
  const [row] = await query<Row>(pg, `${SELECT} where e.owner_id = $1 and e.id = $2`, [ownerId, id]);
  return row;
}

type Row = ErasureRecord & Record<string, unknown>;

const SELECT = `
  select e.id, o.name as owner, e.kind as client, case when e.finished_at is null then 'erasing' else 'done' end as status,
    e.waiting_for, e.events::float8 as events_erased, e.lines::float8 as rejected_lines_erased,
    ${utc("e.asked_at")} as created_at, ${utc("e.finished_at")} as finished_at
  from erasures e join owners o on o.id = e.owner_id`;
