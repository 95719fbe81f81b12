import type { Action, OwnerAction } from "../access/resources.js";
import type { Postgres } from "../postgres/query.js";
import {
  LIST_QUERY,
  PAGE_QUERY,
  listAnswer,
  listPage,
  pageAnswer,
  pageBody,
  pageOf,
} from "./answers/paging.js";
import type { JsonSchema } from "./answers/query-parameters.js";
import { type Texts, idOf, ofScope, shown, titled } from "./describe-resource.js";
import { type Resource, type Scoped, asking } from "./resource.js";
import { type Route, route } from "./route.js";

interface Listing extends Texts {
  /** Describes the response. */
  about?: string;
  /** Describes an entry that has more than the record. */
  entry?: { schema: JsonSchema; example: unknown };
  /** Makes the page a component of the OpenAPI document. True by default. */
  isNamed?: boolean;
}

/** A list in pages, newest first. */
export function listRoute<Row extends { id: string }, Record extends object, S extends Scoped>(
  resource: Resource<Row, Record, OwnerAction, S> &
    Required<Pick<Resource<Row, Record, OwnerAction, S>, "list">>,
  {
    about = `${titled(resource.plural)}, newest first`,
    entry = resource,
    isNamed = true,
    ...texts
  }: Listing = {},
): Route {
  const { pg, plural, path, actions, recordOf } = resource;
  return route({
    method: "GET",
    path,
    action: actions.read,
    operation: {
      id: `list${titled(plural)}`,
      summary: `List ${plural}`,
      ...texts,
      query: PAGE_QUERY,
      answers: {
        200: pageAnswer({
          name: plural,
          record: entry.schema,
          example: entry.example,
          ...(isNamed && { title: `${titled(resource.name)}List` }),
          description: about,
        }),
      },
    },
    async handle(call) {
      const page = pageOf(call.query);
      const { id: ownerId } = await resource.admit(pg, asking(resource, call));
      const rows = await resource.list(pg, { accountId: call.account.id, ownerId, page });
      call.ctx.body = pageBody(call.ctx, { name: plural, rows, page, record: recordOf });
    },
  });
}

/** A list as an array, oldest first, which `list` reads whole. */
export function listAllRoute<
  Row extends { id: string },
  Record extends object,
  A extends Action,
  S extends Scoped,
>(
  resource: Resource<Row, Record, A, S>,
  {
    about = `The ${resource.plural}, oldest first`,
    list,
    ...texts
  }: Texts & { about?: string; list: (pg: Postgres, ownerId: string) => Promise<Row[]> },
): Route {
  const { pg, plural, path, scope, actions, recordOf } = resource;
  return route({
    method: "GET",
    path,
    action: actions.read,
    operation: {
      id: `list${idOf(scope?.title, plural)}`,
      summary: `List ${plural}`,
      ...ofScope(resource),
      ...texts,
      query: { ...scope?.query, ...LIST_QUERY },
      answers: { 200: listAnswer(about, resource.schema, resource.example) },
    },
    async handle(call) {
      const owner = await resource.admit(pg, asking(resource, call));
      const page = listPage(call, await list(pg, owner.id), ({ id }) => id);
      call.ctx.body = await shown(resource, owner, page.map(recordOf));
    },
  });
}
