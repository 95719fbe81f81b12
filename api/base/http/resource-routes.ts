import { changedFields } from "../access/audit-entries.js";
import { lockOwner } from "../access/owners.js";
import type { Owner } from "../access/authorise.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../access/quotas.js";
import type { Action, OwnerAction } from "../access/resources.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import type { PoolClient } from "pg";
import { entityTag, putLocation, requireMatch } from "./answers/headers.js";
import {
  type Texts,
  answerOf,
  idOf,
  locationOf,
  ofRecord,
  ofScope,
  pathOf,
  shown,
  textsOf,
  titled,
  withArticle,
} from "./describe-resource.js";
import { readJson } from "./middleware/read-json.js";
import { type Asking, type Found, type Resource, type Scoped, asking, named } from "./resource.js";
import { type Call, type BodyContent, type Operation, type Route, route } from "./route.js";

export function getRoute<Row, Record extends object, S extends Scoped>(
  resource: Resource<Row, Record, OwnerAction, S>,
  texts: Texts = {},
): Route {
  const { name, actions } = resource;
  return route({
    method: "GET",
    path: pathOf(resource),
    action: actions.read,
    operation: {
      id: `get${titled(name)}`,
      summary: `Get ${withArticle(name)}`,
      ...texts,
      ...ofRecord(resource),
      answers: { 200: answerOf(resource) },
    },
    async handle(call) {
      const { row } = await resource.find(resource.pg, named(resource, call));
      answer(call.ctx, resource, resource.recordOf(row));
    },
  });
}

interface Change<Sent> extends Texts {
  body: BodyContent;
  parse: (body: unknown) => Sent;
  problems?: NonNullable<Operation["problems"]>;
}

interface Creation<Row, Sent, Prepared, A extends Action, S extends Scoped> extends Change<Sent> {
  /** Absent where `insert` counts. */
  quotas?: Quotas;
  count?: (pg: Postgres, ownerId: string) => Promise<number>;
  /** Before the transaction, and only for callers who may create one: slow work, such as a request to another server. */
  prepare?: (call: Call<A>, sent: Sent) => Promise<Prepared>;
  /** Before the owner is locked. */
  lock?: (client: PoolClient, sent: Sent) => Promise<void>;
  /** Returns the id. */
  insert: (client: PoolClient, creating: Creating<Sent, Prepared, A, S>) => Promise<string>;
  /** For the audit log, without secrets. */
  changesOf: (sent: Sent, row: Row, owner: S) => object | undefined;
  /** By default the record. */
  answer?: { content: Operation["answers"][number]; fields?: (prepared: Prepared) => object };
  /** The header of the response; by default the path of the record. */
  location?: "list" | "none";
}

interface Creating<Sent, Prepared, A extends Action = OwnerAction, S extends Scoped = Owner> {
  call: Call<A>;
  owner: S;
  sent: Sent;
  prepared: Prepared;
}

export function createRoute<
  Row,
  Record extends object,
  Sent extends object,
  Prepared,
  A extends Action,
  S extends Scoped,
>(resource: Resource<Row, Record, A, S>, creation: Creation<Row, Sent, Prepared, A, S>): Route {
  const { name, plural, path, scope, actions, problems = [] } = resource;
  return route({
    method: "POST",
    path,
    action: actions.create,
    operation: {
      id: `create${idOf(scope?.title, name)}`,
      summary: `Create ${withArticle(name)}`,
      ...ofScope(resource),
      ...textsOf(creation),
      body: creation.body,
      answers: { 201: creation.answer?.content ?? answerOf(resource) },
      problems: [
        ...(scope?.problems ?? []),
        ...(creation.problems ?? []),
        ...problems,
        ...(creation.quotas ? [QUOTA_PROBLEMS[plural as keyof Quotas]] : []),
      ],
    },
    async handle(call) {
      const { prepared, row, owner } = await create(resource, creation, call);
      const record = resource.recordOf(row);
      call.ctx.status = 201;
      const { answer: other, location } = creation;
      if (location !== "none") putLocation(call.ctx, locationOf(resource, record, location));
      if (other?.fields !== undefined) call.ctx.body = { ...record, ...other.fields(prepared) };
      else {
        answer(call.ctx, resource, record);
        [call.ctx.body] = await shown(resource, owner, [record]);
      }
    },
  });
}

async function create<Row, Sent extends object, Prepared, A extends Action, S extends Scoped>(
  resource: Resource<Row, object, A, S>,
  { parse, prepare, lock, quotas, count, insert, changesOf }: Creation<Row, Sent, Prepared, A, S>,
  call: Call<A>,
): Promise<{ row: Row; owner: S; prepared: Prepared }> {
  const { pg, plural, admit, actions } = resource;
  const sent = await readJson(call.ctx, parse);
  const asked = asking(resource, call);
  if (prepare !== undefined) await admit(pg, asked);
  const prepared = (await prepare?.(call, sent)) as Prepared;
  return inTransaction(pg, async (client) => {
    await lock?.(client, sent);
    const owner = (await lockScope(resource, client, asked)) ?? (await admit(client, asked));
    if (quotas !== undefined && count !== undefined)
      requireRoom(quotas, plural as keyof Quotas, { name: owner.name, count: await count(client, owner.id) });
    const id = await insert(client, { call, owner, sent, prepared });
    const { row } = await resource.find(client, { ...asked, action: actions.read, id }, owner);
    const changes = changesOf(sent, row, owner);
    await call.record(client, entryOf(resource, { owner, row, changes }));
    return { row, owner, prepared };
  });
}

interface Update<Row, Sent, Prepared> extends Change<Sent> {
  example?: object;
  /** Before the transaction. */
  prepare?: (call: Call<OwnerAction>, sent: Sent, found: Found<Row>) => Promise<Prepared>;
  /** Returns audit changes that the record does not show. */
  apply: (client: Postgres, changing: Changing<Row, Sent, Prepared>) => Promise<object | void>;
}

interface Changing<Row, Sent, Prepared> {
  call: Call<OwnerAction>;
  owner: Found<Row>["owner"];
  before: Row;
  sent: Sent;
  prepared: Prepared;
}

export function updateRoute<Row extends { id: string }, Record extends object, Sent, Prepared>(
  resource: Resource<Row, Record> & { actions: { update: OwnerAction } },
  update: Update<Row, Sent, Prepared>,
): Route {
  const { name, actions, problems = [] } = resource;
  const content = answerOf(resource);
  return route({
    method: "PUT",
    path: pathOf(resource),
    action: actions.update,
    operation: {
      id: `update${titled(name)}`,
      summary: `Update, disable or enable ${withArticle(name)}`,
      ...ofRecord(resource),
      ...textsOf(update),
      body: update.body,
      answers: { 200: { ...content, example: update.example ?? content.example } },
      problems: [...(update.problems ?? []), ...problems, "precondition-failed"],
    },
    async handle(call) {
      answer(call.ctx, resource, resource.recordOf(await change(resource, update, call)));
    },
  });
}

async function change<Row extends { id: string }, Record extends object, Sent, Prepared>(
  resource: Resource<Row, Record>,
  { parse, prepare, apply }: Update<Row, Sent, Prepared>,
  call: Call<OwnerAction>,
): Promise<Row> {
  const { pg, actions, find, recordOf } = resource;
  const asked = named(resource, call);
  const sent = await readJson(call.ctx, parse);
  const prepared = (await prepare?.(call, sent, await find(pg, asked))) as Prepared;
  return inTransaction(pg, async (client) => {
    await lockScope(resource, client, asked);
    const { owner, row: before } = await find(client, asked);
    requireMatch(call.ctx, entityTag(recordOf(before)));
    const more = await apply(client, { call, owner, before, sent, prepared });
    // By its id: the path may have named it by what was changed.
    const { row: after } = await find(client, { ...asked, action: actions.read, id: before.id });
    const changes = { ...changedFields(recordOf(before), recordOf(after)), ...more };
    await call.record(client, entryOf(resource, { owner, row: after, changes }));
    return after;
  });
}

interface Deletion<Row, A extends Action> extends Texts {
  delete: (client: Postgres, row: Row, call: Call<A>) => Promise<unknown>;
  /** For the audit log. */
  changesOf?: (row: Row, owner: Scoped) => object | undefined;
  /** Describes the response. */
  about?: string;
}

type Deletable<Row, A extends Action, S extends Scoped> = Pick<
  Resource<Row, object, A, S>,
  "pg" | "name" | "path" | "scope" | "parameters" | "problems" | "isTagged" | "lock" | "find" | "targetOf"
> &
  Partial<Pick<Resource<Row, object, A, S>, "recordOf">> & { actions: { delete: A } };

export function deleteRoute<Row, A extends Action, S extends Scoped>(
  resource: Deletable<Row, A, S>,
  deletion: Deletion<Row, A>,
): Route {
  const { pg, name, scope, actions, problems = [], recordOf, isTagged = recordOf !== undefined } = resource;
  const { delete: remove, changesOf = () => ({ deleted: true }), about } = deletion;
  return route({
    method: "DELETE",
    path: pathOf(resource),
    action: actions.delete,
    operation: {
      id: `delete${idOf(scope?.title, name)}`,
      summary: `Delete ${withArticle(name)}`,
      ...ofScope(resource),
      ...ofRecord(resource),
      ...textsOf(deletion),
      answers: { 204: { description: about ?? `${titled(name)} deleted` } },
      problems: [
        ...(scope?.problems ?? []),
        ...problems,
        ...(isTagged ? (["precondition-failed"] as const) : []),
      ],
    },
    async handle(call) {
      const asked = named(resource, call);
      await inTransaction(pg, async (client) => {
        const { owner, row } = await resource.find(client, asked, await lockScope(resource, client, asked));
        if (isTagged && recordOf) requireMatch(call.ctx, entityTag(recordOf(row)));
        await remove(client, row, call);
        await call.record(client, entryOf(resource, { owner, row, changes: changesOf(row, owner) }));
      });
      call.ctx.status = 204;
    },
  });
}

/** Returns the owner if the resource's `lock` has admitted the caller to it. */
async function lockScope<A extends Action, S extends Scoped>(
  { lock }: { lock?: (client: PoolClient, asking: Asking<A>) => Promise<S> },
  client: PoolClient,
  asked: Asking<A>,
): Promise<S | undefined> {
  if (lock !== undefined) return lock(client, asked);
  await lockOwner(client, asked.owner);
  return undefined;
}

function entryOf<Row>(
  { targetOf }: Pick<Resource<Row, object>, "targetOf">,
  { owner, row, changes }: { owner: Scoped; row: Row; changes: object | undefined },
) {
  return { ownerId: owner.ownerId ?? owner.id, target: targetOf(row), ...(changes && { changes }) };
}

function answer(ctx: Call["ctx"], { isTagged = true }: { isTagged?: boolean }, record: object): void {
  if (isTagged) ctx.set("ETag", entityTag(record));
  ctx.body = record;
}
