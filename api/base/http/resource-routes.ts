import { changedFields } from "../access/audit-entries.js";
import type { Owner } from "../access/authorise.js";
import { lockOwner } from "../access/owners.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../access/quotas.js";
import type { OwnerAction } from "../access/resources.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "./answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "./answers/paging.js";
import type { JsonSchema } from "./answers/query-parameters.js";
import { readJson } from "./middleware/read-json.js";
import { type Found, type Resource, named } from "./resource.js";
import { type Call, type Content, type Operation, type Route, route } from "./route.js";

interface Listing {
  description?: string;
  about?: string;
  /** Of an entry, where it has more than the record. */
  entry?: { schema: JsonSchema; example: unknown };
}

export function listRoute<Row extends { id: string }, Record extends object>(
  resource: Resource<Row, Record>,
  { description, about = `${titled(resource.plural)}, newest first`, entry = resource }: Listing = {},
): Route {
  const { pg, plural, path, actions, recordOf } = resource;
  return route({
    method: "GET",
    path,
    action: actions.read,
    operation: {
      id: `list${titled(plural)}`,
      summary: `List ${plural}`,
      ...(description !== undefined && { description }),
      query: PAGE_QUERY,
      answers: {
        200: pageAnswer({
          name: plural,
          record: entry.schema,
          example: entry.example,
          title: `${titled(resource.name)}List`,
          description: about,
        }),
      },
    },
    async handle({ ctx, account, action, query, param }) {
      const page = pageOf(query);
      const { id: ownerId } = await resource.admit(pg, account, param("owner"), action);
      const rows = await resource.list(pg, { accountId: account.id, ownerId, page });
      ctx.body = pageBody(ctx, { name: plural, rows, page, record: recordOf });
    },
  });
}

export function getRoute<Row, Record extends object>(resource: Resource<Row, Record>): Route {
  const { name, actions } = resource;
  return route({
    method: "GET",
    path: pathOf(resource),
    action: actions.read,
    operation: {
      id: `get${titled(name)}`,
      summary: `Get ${withArticle(name)}`,
      ...ofRecord(resource),
      answers: { 200: answerOf(resource) },
    },
    async handle(call) {
      const { row } = await resource.find(resource.pg, named(resource, call));
      answerRecord(call.ctx, resource.recordOf(row));
    },
  });
}

interface Change<Sent> {
  description?: string;
  body: Content;
  parse: (body: unknown) => Sent;
  problems?: NonNullable<Operation["problems"]>;
}

interface Creation<Row, Sent, Prepared> extends Change<Sent> {
  quotas: Quotas;
  count: (pg: Postgres, ownerId: string) => Promise<number>;
  /** Before the transaction, and only for callers who may create one: slow work, such as a request to another server. */
  prepare?: (call: Call<OwnerAction>, sent: Sent) => Promise<Prepared>;
  /** Returns the id. */
  insert: (client: Postgres, creating: Creating<Sent, Prepared>) => Promise<string>;
  /** For the audit log, without secrets. */
  changesOf: (sent: Sent, row: Row) => object;
  /** By default the record. */
  answer?: { content: Operation["answers"][number]; fields: (prepared: Prepared) => object };
}

interface Creating<Sent, Prepared> {
  call: Call<OwnerAction>;
  owner: Owner;
  sent: Sent;
  prepared: Prepared;
}

export function createRoute<Row, Record extends { id: string; owner: string }, Sent extends object, Prepared>(
  resource: Resource<Row, Record> & { plural: keyof Quotas },
  creation: Creation<Row, Sent, Prepared>,
): Route {
  const { name, plural, path, actions, problems = [] } = resource;
  return route({
    method: "POST",
    path,
    action: actions.create,
    operation: {
      id: `create${titled(name)}`,
      summary: `Create ${withArticle(name)}`,
      ...described(creation),
      body: creation.body,
      answers: { 201: creation.answer?.content ?? answerOf(resource) },
      problems: [...(creation.problems ?? []), ...problems, QUOTA_PROBLEMS[plural]],
    },
    async handle(call) {
      const { prepared, row } = await create(resource, creation, call);
      const record = resource.recordOf(row);
      call.ctx.status = 201;
      putLocation(call.ctx, locationOf(resource, record));
      if (creation.answer === undefined) answerRecord(call.ctx, record);
      else call.ctx.body = { ...record, ...creation.answer.fields(prepared) };
    },
  });
}

async function create<Row, Sent extends object, Prepared>(
  resource: Resource<Row, object> & { plural: keyof Quotas },
  { parse, prepare, quotas, count, insert, changesOf }: Creation<Row, Sent, Prepared>,
  call: Call<OwnerAction>,
): Promise<{ row: Row; prepared: Prepared }> {
  const { pg, plural, admit, actions } = resource;
  const { ctx, account, action, param, record } = call;
  const sent = await readJson(ctx, parse);
  if (prepare !== undefined) await admit(pg, account, param("owner"), action);
  const prepared = (await prepare?.(call, sent)) as Prepared;
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await admit(client, account, param("owner"), action);
    requireRoom(quotas, plural, { name: owner.name, count: await count(client, owner.id) });
    const id = await insert(client, { call, owner, sent, prepared });
    const { row } = await resource.find(client, { account, action: actions.read, owner: owner.name, id });
    await record(client, {
      ownerId: owner.id,
      target: resource.targetOf(row),
      changes: changesOf(sent, row),
    });
    return { row, prepared };
  });
}

interface Update<Row, Sent, Prepared> extends Change<Sent> {
  summary?: string;
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
  resource: Resource<Row, Record>,
  update: Update<Row, Sent, Prepared>,
): Route {
  const { name, actions, problems = [] } = resource;
  const answer = answerOf(resource);
  return route({
    method: "PUT",
    path: pathOf(resource),
    action: actions.update,
    operation: {
      id: `update${titled(name)}`,
      summary: update.summary ?? `Update, disable or enable ${withArticle(name)}`,
      ...ofRecord(resource),
      ...described(update),
      body: update.body,
      answers: { 200: { ...answer, example: update.example ?? answer.example } },
      problems: [...(update.problems ?? []), ...problems, "precondition-failed"],
    },
    async handle(call) {
      answerRecord(call.ctx, resource.recordOf(await change(resource, update, call)));
    },
  });
}

async function change<Row extends { id: string }, Record extends object, Sent, Prepared>(
  resource: Resource<Row, Record>,
  { parse, prepare, apply }: Update<Row, Sent, Prepared>,
  call: Call<OwnerAction>,
): Promise<Row> {
  const { pg, actions, find, recordOf, targetOf } = resource;
  const asked = named(resource, call);
  const sent = await readJson(call.ctx, parse);
  const prepared = (await prepare?.(call, sent, await find(pg, asked))) as Prepared;
  return inTransaction(pg, async (client) => {
    await lockOwner(client, asked.owner);
    const { owner, row: before } = await find(client, asked);
    requireMatch(call.ctx, entityTag(recordOf(before)));
    const more = await apply(client, { call, owner, before, sent, prepared });
    // By its id: the path may have named it by what was changed.
    const { row: after } = await find(client, { ...asked, action: actions.read, id: before.id });
    const changes = { ...changedFields(recordOf(before), recordOf(after)), ...more };
    await call.record(client, { ownerId: owner.id, target: targetOf(after), changes });
    return after;
  });
}

interface Deletion<Row> {
  summary?: string;
  description?: string;
  delete: (client: Postgres, row: Row, call: Call<OwnerAction>) => Promise<void>;
  /** For the audit log. */
  changesOf?: (row: Row) => object | undefined;
}

/** `If-Match` is compared with `recordOf`, where records can be read one by one. */
type Deletable<Row> = Pick<
  Resource<Row, object>,
  "pg" | "name" | "path" | "parameters" | "problems" | "find" | "targetOf"
> &
  Partial<Pick<Resource<Row, object>, "recordOf">> & {
    actions: Pick<Resource<Row, object>["actions"], "delete">;
  };

export function deleteRoute<Row>(
  resource: Deletable<Row>,
  { summary, delete: remove, changesOf = () => ({ deleted: true }), ...deletion }: Deletion<Row>,
): Route {
  const { pg, name, actions, problems = [], recordOf } = resource;
  return route({
    method: "DELETE",
    path: pathOf(resource),
    action: actions.delete,
    operation: {
      id: `delete${titled(name)}`,
      summary: summary ?? `Delete ${withArticle(name)}`,
      ...ofRecord(resource),
      ...described(deletion),
      answers: { 204: { description: `${titled(name)} deleted` } },
      problems: [...problems, ...(recordOf ? (["precondition-failed"] as const) : [])],
    },
    async handle(call) {
      await inTransaction(pg, async (client) => {
        await lockOwner(client, call.param("owner"));
        const { owner, row } = await resource.find(client, named(resource, call));
        if (recordOf !== undefined) requireMatch(call.ctx, entityTag(recordOf(row)));
        await remove(client, row, call);
        const changes = changesOf(row);
        const entry = { ownerId: owner.id, target: resource.targetOf(row) };
        await call.record(client, { ...entry, ...(changes && { changes }) });
      });
      call.ctx.status = 204;
    },
  });
}

function pathOf({ path, name }: Pick<Resource<never, object>, "path" | "name">): string {
  return `${path}/:${name}`;
}

function locationOf(
  { path }: Pick<Resource<never, object>, "path">,
  { id, owner }: { id: string; owner: string },
): string {
  return `${path.replace(":owner", encodeURIComponent(owner))}/${id}`;
}

function answerOf<Record extends object>({
  name,
  schema,
  example,
}: Pick<Resource<never, Record>, "name" | "schema" | "example">) {
  return { description: `The ${name}`, schema, example };
}

function ofRecord({ parameters, problems }: Pick<Resource<never, object>, "parameters" | "problems">) {
  return { ...(parameters && { path: parameters }), ...(problems && { problems }) };
}

function described({ description }: { description?: string | undefined }) {
  return description === undefined ? {} : { description };
}

function titled(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function withArticle(name: string): string {
  return `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
}
