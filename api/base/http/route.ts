import type { ParameterizedContext } from "koa";
import type { Logger } from "pino";
import { Problem, type ProblemCode } from "../../../schemas/problem.js";
import type { Account } from "../access/access.js";
import {
  type AuditEntry,
  type Changed,
  type RecordAccess,
  insertAuditEntry,
} from "../access/audit-entries.js";
import { requireScope } from "../access/authorise.js";
import type { Action, Tag } from "../access/resources.js";
import type { Session } from "../identity/sessions.js";
import type { Postgres } from "../postgres/query.js";
import {
  type JsonSchema,
  type Parameter,
  type Parameters,
  type QueryOf,
  readQuery,
} from "./answers/query-parameters.js";
import { BODY_LIMITS, type BodyLimits } from "./body-limits.js";
import type { TakeExportPermit } from "./export-permits.js";
import type { TakeLargeBody } from "./large-bodies.js";

/**
 * One operation of the API. A route module is a function from what it needs to a list of these:
 *
 *     export function pixelRoutes({ pg }: { pg: Postgres }): Route[] {
 *       return [
 *         route({
 *           method: "GET",
 *           path: "/v2/pixels/:owner",
 *           action: "pixels.read",
 *           async handle({ ctx, account, action, param }) {
 *             const owner = await ownerFor(pg, account, param("owner"), action);
 *             ...
 *
 * Every route names its action, and its handler passes that on to `authorise.ts`.
 */
export interface Route<Named extends Action = Action, Query extends Parameters = Parameters> {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** `param` reads segments such as `:owner`. If two paths match, the one registered first answers. */
  path: string | string[];
  action: Named;
  /** Its description in the OpenAPI document. */
  operation: Operation<Query>;
  handle: (call: Call<Named, Query>) => Promise<void>;
}

export interface Call<Named extends Action = Action, Query extends Parameters = Parameters> {
  ctx: ApiContext;
  account: Account;
  action: Named;
  /** The query's parameters, checked and typed by the operation's schemas. */
  query: QueryOf<Query>;
  /** A path parameter, percent-decoded after routing: it may contain `/`. */
  param: (name: string) => string;
  /** In the transaction of the change. */
  record: (client: Postgres, changed: Changed) => Promise<void>;
  /** An export that is being answered, or several. The answer does not wait for their entries. */
  recordExports: (...exported: Changed[]) => void;
  /** The entry that `record` writes, for a change that writes it itself. */
  auditEntry: (changed: Changed) => AuditEntry;
}

/**
 * An operation that needs no token: a read about the service itself or of a package that its admins made public, or one
 * whose signature, or the token in its address, takes the place of it.
 */
export interface PublicRoute {
  method: "GET" | "POST";
  path: string;
  operation: Operation;
  handle: (ctx: ApiContext) => Promise<void> | void;
}

export type RequireCaller = (pg: Postgres) => Promise<Account>;

export interface ApiState {
  requestId: string;
  /** Adds the request's id to every line. */
  log: Logger;
  /** Aborted once the caller has left, and once the response has ended; see `watchCaller`. */
  left: AbortSignal;
  /** The URL of the API as callers reach it, without a slash at its end. */
  publicBase: string;
  /** Whether `publicBase` is the operator's choice, whatever requests say. */
  hasPublicUrl: boolean;
  /** The URL of live collection as this host's callers reach it, as far as is known: for lines to copy. */
  collectBase: string;
  /** Whether only the operator knows the host of `collectBase`: it is behind a proxy, and not configured. */
  isCollectGuessed: boolean;
  account?: Account;
  /** Finds the caller again. Throws `unauthenticated` once its token, session or account has ended. */
  requireCaller?: RequireCaller;
  /** Only below `/dashboard`. */
  session?: Session;
  route?: string;
  /** Of a call in this process, see `Caller`. */
  operation?: string;
  /** Writes these to the audit log without keeping the request waiting; see `recordAccess`. */
  recordAccess?: RecordAccess;
  /** Shares exports among callers; see `openExportPermits`. */
  takeExportPermit?: TakeExportPermit;
  /** Waits until an account has few enough other requests at work. Throws `rate-limited`. */
  takePlace?: (accountId: string) => Promise<Disposable>;
  bodyMsMax: number;
  /** Of the operation, once it is known. */
  bodyLimits: BodyLimits;
  takeLargeBody: TakeLargeBody;
  /** Of the client, for limits that its neighbours share: `203.0.113.0/24`, `2001:db8:1::/48` or `unknown`. */
  network: string;
  /** Set once an answer was broken off. */
  failed?: boolean;
}

export type ApiContext = ParameterizedContext<ApiState>;

/** Preserves the literal type of the action, for handlers that pass it to functions for some actions only. */
export function route<Named extends Action, const Query extends Parameters = Parameters>(
  described: Route<Named, Query>,
): Route {
  return described as unknown as Route;
}

/** `tracking-pixels` is an older word for `pixels`, and accepted everywhere in its place. */
export function pathsOf({ path }: Route): string[] {
  const paths = typeof path === "string" ? [path] : path;
  const older = paths.filter((each) => each.includes("/pixels"));
  return [...paths, ...older.map((each) => each.replace("/pixels", "/tracking-pixels"))];
}

/** Answers 401 and 403 (a missing scope) before any lookup, so that neither reveals whether the target exists. */
export async function callRoute(route: Route, ctx: ApiContext): Promise<void> {
  const { action, handle } = route;
  const { account, operation = route.operation.id } = ctx.state;
  ctx.state.route = pathsOf(route)[0] ?? "none";
  ctx.state.bodyLimits = bodyLimitsOf(route.operation);
  if (account === undefined) throw new Problem("unauthenticated", "A token is required.");
  if (operation !== route.operation.id)
    throw new Problem(
      "invalid-query",
      `${ctx.path} belongs to another operation, so it cannot be a parameter value of ${operation}.`,
    );
  requireScope(account, action);
  const query = readQuery(ctx.query, route.operation);
  using _place = isStreamed(route.operation) ? undefined : await ctx.state.takePlace?.(account.id);
  const by = { accountId: account.id, tokenName: account.limited?.name, requestId: ctx.state.requestId };
  const auditEntry = (changed: Changed) => ({ ...changed, by, action });
  await handle({
    ctx,
    account,
    action,
    query,
    param: (name) => paramOf(ctx, name),
    record: (client, changed) => insertAuditEntry(client, auditEntry(changed)),
    recordExports(...exported) {
      if (ctx.method === "HEAD") return;
      const entries = exported.map((each) => ({ ...auditEntry(each), action: exportOf(each) }));
      ctx.state.recordAccess?.(async () => entries);
    },
    auditEntry,
  });
}

export function bodyLimitsOf({ body }: Operation): BodyLimits {
  return { ...BODY_LIMITS, ...body?.limits };
}

/** Uploads and exports take as long as their callers let them, and have limits of their own. */
function isStreamed({ body, answers }: Operation): boolean {
  return body?.types !== undefined || answers[200]?.types !== undefined;
}

/** Statistics and companies as a file are exports as well, whatever action their routes have. */
function exportOf({ target }: Changed): Action {
  return target.kind === "package" ? "packages.export" : "export.read";
}

export function paramOf(ctx: ApiContext, name: string): string {
  const value = (ctx["params"] as Record<string, string | undefined>)[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}

/** Schemas are those that validate requests and type records. One with a `title` becomes a component of that name. */
export interface Operation<Query extends Parameters = Parameters> {
  /** camelCase and unique: generated clients name their functions after it. */
  id: string;
  /** By default the tag of the resource of its action. */
  tag?: Tag;
  summary: string;
  description?: string;
  /** JSON schemas of the path's parameters, by name; text by default. */
  path?: Readonly<Record<string, Parameter>>;
  /** Any other parameter is rejected. */
  query?: Query;
  /** Parameters whose names begin with this are taken as well. */
  queryPrefix?: string;
  headers?: Readonly<Record<string, Parameter>>;
  body?: BodyContent;
  answers: Readonly<Record<number, AnswerContent>>;
  /** Codes of this operation beyond those of every operation. */
  problems?: readonly ProblemCode[];
}

export interface Content {
  schema: JsonSchema;
  example: unknown;
  /** `application/json` by default. */
  types?: readonly string[];
  description?: string;
}

/** A body of lines is a stream, and has limits of its own. */
export interface BodyContent extends Content {
  /** `BODY_LIMITS` by default. They leave room for a body that is a little too large for its schema, which says more. */
  limits?: Partial<BodyLimits>;
}

/** `schema` and `example` are absent if there is no body. */
export interface AnswerContent extends Partial<Content> {
  description: string;
  headers?: Readonly<Record<string, Parameter>>;
  /** Other formats that `Accept` can request, by content type. Each has an `ETag` if the default format has one. */
  others?: Readonly<Record<string, Pick<Content, "schema" | "example">>>;
}
