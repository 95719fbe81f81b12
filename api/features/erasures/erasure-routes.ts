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
import { Problem } from "../../../schemas/problem.js";
import { ownerFor, wholeOwnerFor } from "../../base/access/authorise.js";
import { type Resource, findById, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import { createRoute, getRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import type { Sealer } from "../../base/identity/tokens.js";
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

export function erasureRoutes({ pg, sealer }: ErasureRoutesDeps): Route[] {
  const resource = {
    pg,
    name: "erasure",
    plural: "erasures",
    path: "/v2/:owner/erasures",
    actions: { read: "erasures.read", create: "erasures.create" },
    schema: ERASURE,
    example: EXAMPLE,
    parameters: {
      erasure: { schema: { type: "string", format: "uuid" }, description: "Id of the erasure" },
    },
    isTagged: false,
    admit: (client, asking) =>
      toOwner(asking.action === "erasures.create" ? wholeOwnerFor : ownerFor)(client, asking),
    list: listErasures,
    find: findById({
      name: "erasure",
      admit: toOwner(ownerFor),
      read: readErasure,
      missing: (id) => `The erasure ${id.slice(0, 60)} does not exist.`,
    }),
    recordOf: (erasure) => erasure,
    // Never names the client.
    targetOf: ({ id, client }) => ({ kind: "erasure", id, name: client }),
  } as const satisfies Resource<ErasureRecord>;
  return [
    createRoute(resource, {
      summary: "Erase the events of one client",
      description:
        "Removes all events of the client in the owner's packages and pixels that were received before " +
        "this request, as if they had never been sent. Aggregates, statistics and companies are " +
        "updated, and events of other clients that these events had replaced are restored. Texts of " +
        "rejected lines that contain the client's IP address are removed too. Imports that started before the " +
        "request are covered completely; later imports are not. Live events that arrive while the " +
        "status is `erasing` may be removed as well. Poll the record until its status is `done`.",
      body: { schema: ERASURE_CREATE, example: CLIENT },
      parse: parseErasureCreate,
      problems: ["too-many-erasures"],
      insert(client, { owner, sent }) {
        const { kind, clientId } = clientOf(sent);
        const seal = (erasure: string) => sealer.seal(clientId, erasure);
        return insertErasure(client, { ownerId: owner.id, kind, seal });
      },
      changesOf: () => undefined,
      answer: { content: { description: "The erasure has started", schema: ERASURE, example: EXAMPLE } },
    }),
    listRoute(resource, {
      summary: "List erasures, newest first",
      about: "A page of erasures, newest first",
      isNamed: false,
    }),
    getRoute(resource, { summary: "Get an erasure and its progress" }),
  ];
}

function clientOf(sent: ErasureCreate) {
  const kind = CLIENT_ID_KINDS.find((each) => sent[each] !== undefined) ?? "origin_id";
  return { kind, clientId: (sent[kind] ?? "").toLowerCase() };
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
