import type { Pool } from "pg";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import type { Account } from "../access/access.js";
import type { Changed } from "../access/audit-entries.js";
import type { Owner } from "../access/authorise.js";
import type { OwnerAction } from "../access/resources.js";
import type { Page, Postgres } from "../postgres/query.js";
import type { JsonSchema, Parameters } from "./answers/query-parameters.js";
import type { Call, Operation } from "./route.js";

/**
 * A kind of record that owners have several of, such as webhooks. `resource-routes.ts` builds its routes from this declaration:
 *
 *     const SOURCES: Resource<SourceRecord> = { name: "source", plural: "sources", path: "/v2/:owner/sources", ... };
 *     return [listRoute(SOURCES), createRoute(SOURCES, { ... }), getRoute(SOURCES), deleteRoute(SOURCES, { ... })];
 *
 * Each change is one transaction with the owner locked: the caller is admitted, `If-Match` is compared, and the audit log
 * gets an entry.
 */
export interface Resource<Row, Record extends object = Row & object> {
  pg: Pool;
  /** In sentences, and as the parameter of the path: `source`. */
  name: string;
  /** In sentences, and as the field of a list. */
  plural: string;
  /** Of the list; that of a record is below it, by `name`. */
  path: string;
  actions: Readonly<{ read: OwnerAction; create: OwnerAction; update: OwnerAction; delete: OwnerAction }>;
  schema: JsonSchema;
  example: unknown;
  /** Parameters of a record's path. */
  parameters?: Parameters;
  /** Codes of every operation on a record. */
  problems?: Operation["problems"];
  /** Throws if the caller may not act on the owner, or may not see it. */
  admit: (pg: Postgres, account: Account, owner: string, action: OwnerAction) => Promise<Owner>;
  /** Newest first, and one more than the page if there is a next one. */
  list: (pg: Postgres, asked: { accountId: string; ownerId: string; page: Page }) => Promise<Row[]>;
  /** Throws `not-found` and `forbidden`; see `findById`. */
  find: (pg: Postgres, asked: Asked) => Promise<Found<Row>>;
  recordOf: (row: Row) => Record;
  /** For the audit log. */
  targetOf: (row: Row) => Changed["target"];
}

export interface Asked {
  account: Account;
  action: OwnerAction;
  owner: string;
  /** The last segment of the path. */
  id: string;
}

export interface Found<Row> {
  owner: Pick<Owner, "id" | "name">;
  row: Row;
}

/** Finds by id alone. A record that the caller may not see is not found. */
export function findById<Row>(
  name: string,
  admit: Resource<Row, object>["admit"],
  read: (pg: Postgres, asked: { accountId: string; ownerId: string; id: string }) => Promise<Row | undefined>,
) {
  return async (pg: Postgres, { account, action, owner: ownerName, id }: Asked): Promise<Found<Row>> => {
    const owner = await admit(pg, account, ownerName, action);
    const row = isUuid(id) ? await read(pg, { accountId: account.id, ownerId: owner.id, id }) : undefined;
    if (row !== undefined) return { owner, row };
    throw new Problem("not-found", `The ${name} ${id} does not exist, or you do not have access to it.`);
  };
}

/** The record that a call's path names. */
export function named<Row>(
  { name }: Pick<Resource<Row, object>, "name">,
  { account, action, param }: Pick<Call<OwnerAction>, "account" | "action" | "param">,
): Asked {
  return { account, action, owner: param("owner"), id: param(name) };
}
