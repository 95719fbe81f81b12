import type { Pool, PoolClient } from "pg";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import type { Account } from "../access/access.js";
import type { Changed } from "../access/audit-entries.js";
import type { Owner } from "../access/authorise.js";
import type { Action, OwnerAction } from "../access/resources.js";
import type { Page, Postgres } from "../postgres/query.js";
import type { JsonSchema, Parameters } from "./answers/query-parameters.js";
import type { Call, Operation } from "./route.js";

/**
 * A kind of record that owners have several of, such as webhooks. `resource-lists.ts` and `resource-routes.ts` build its
 * routes from this declaration:
 *
 *     const SOURCES: Resource<SourceRecord> = { name: "source", plural: "sources", path: "/v2/:owner/sources", ... };
 *     return [listRoute(SOURCES), createRoute(SOURCES, { ... }), getRoute(SOURCES), deleteRoute(SOURCES, { ... })];
 *
 * Each change is one transaction with the owner locked: the caller is admitted, `If-Match` is compared, and the audit log
 * gets an entry. Records of a package or of the caller's account name their `scope`; `owner` is that package or account then.
 */
export interface Resource<
  Row,
  Record extends object = Row & object,
  A extends Action = OwnerAction,
  S extends Scoped = Owner,
> {
  pg: Pool;
  /** In sentences, and as the parameter of the path: `source`. */
  name: string;
  /** In sentences, and as the field of a list. */
  plural: string;
  /** Of the list; that of a record is below it, by `name`. */
  path: string;
  actions: Readonly<{ read: A; create: A; update?: A; delete?: A }>;
  schema: JsonSchema;
  example: unknown;
  /** By default an owner, whom the path names. */
  scope?: Scope;
  /** Parameters of a record's path. */
  parameters?: Parameters;
  /** Codes of every operation on a record. */
  problems?: Operation["problems"];
  /** Responses have an `ETag`, which `If-Match` is compared with. True by default. */
  isTagged?: boolean;
  /** Locks the owner until the transaction ends, and admits the caller. By default `lockOwner`, which does not admit. */
  lock?: (client: PoolClient, asking: Asking<A>) => Promise<S>;
  /** Throws if the caller may not act on the owner, or may not see it. */
  admit: (pg: Postgres, asking: Asking<A>) => Promise<S>;
  /** Newest first, and one more than the page if there is a next one. For `listRoute`. */
  list?: (pg: Postgres, asked: { accountId: string; ownerId: string; page: Page }) => Promise<Row[]>;
  /** Admits the caller, unless `admitted` is given. Throws `not-found` and `forbidden`; see `findById`. */
  find: (pg: Postgres, asked: Asked<A>, admitted?: S) => Promise<Found<Row>>;
  recordOf: (row: Row) => Record;
  /** Adds what an `ETag` does not cover. */
  show?(owner: S, records: readonly Record[]): Promise<object[]>;
  /** For the audit log. */
  targetOf: (row: Row) => Changed["target"];
}

/** The owner of records, or the package of `ownerId` that they belong to. */
export interface Scoped {
  id: string;
  name: string;
  ownerId?: string;
}

interface Scope {
  /** The path's parameter that names it; without one, the caller's account. */
  parameter?: string;
  /** Before the resource's name in ids of operations. */
  title?: string;
  path?: Parameters;
  query?: Parameters;
  problems?: NonNullable<Operation["problems"]>;
}

export interface Asking<A extends Action = OwnerAction> {
  account: Account;
  action: A;
  /** The segment of the path that names the owner. */
  owner: string;
  query?: Call["query"];
}

export interface Asked<A extends Action = OwnerAction> extends Asking<A> {
  /** The last segment of the path. */
  id: string;
}

export interface Found<Row> {
  owner: Scoped;
  row: Row;
}

type AdmitToOwner = (pg: Postgres, account: Account, owner: string, action: OwnerAction) => Promise<Owner>;

/** For `ownerFor` and `wholeOwnerFor`. */
export function toOwner(admit: AdmitToOwner) {
  return (pg: Postgres, { account, owner, action }: Asking) => admit(pg, account, owner, action);
}

interface Finding<Row, A extends Action, S extends Scoped> {
  name: string;
  admit: (pg: Postgres, asking: Asking<A>) => Promise<S>;
  read: (pg: Postgres, asked: { accountId: string; ownerId: string; id: string }) => Promise<Row | undefined>;
  /** The sentence about a record that is not found. */
  missing?: (id: string, owner: S) => string;
}

/** Finds by id alone. A record that the caller may not see is not found. */
export function findById<Row, A extends Action = OwnerAction, S extends Scoped = Owner>({
  name,
  admit,
  read,
  missing = (id) => `The ${name} ${id} does not exist, or you do not have access to it.`,
}: Finding<Row, A, S>) {
  return async (pg: Postgres, { id, ...asking }: Asked<A>, admitted?: S): Promise<Found<Row>> => {
    const owner = admitted ?? (await admit(pg, asking));
    const asked = { accountId: asking.account.id, ownerId: owner.id, id };
    const row = isUuid(id) ? await read(pg, asked) : undefined;
    if (row !== undefined) return { owner, row };
    throw new Problem("not-found", missing(id, owner));
  };
}

type Asks<A extends Action> = Pick<Call<A>, "account" | "action" | "param"> & Partial<Pick<Call<A>, "query">>;

/** The owner that a call's path names. */
export function asking<A extends Action>(
  { scope = { parameter: "owner" } }: { scope?: Scope },
  { account, action, param, query }: Asks<A>,
): Asking<A> {
  const { parameter } = scope;
  const owner = parameter === undefined ? account.username : param(parameter);
  return { account, action, owner, ...(query && { query }) };
}

/** The record that a call's path names. */
export function named<A extends Action>(resource: { name: string; scope?: Scope }, call: Asks<A>): Asked<A> {
  return { ...asking(resource, call), id: call.param(resource.name) };
}
