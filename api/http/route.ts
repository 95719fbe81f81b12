import type { ParameterizedContext } from "koa";
import type { Logger } from "pino";
import { Problem } from "../../schemas/problem.js";
import type { Action } from "../access/resources.js";
import { refuseUnknownParameters } from "./answers/query-parameters.js";
import { requireScope } from "../access/authorise.js";
import type { Operation } from "./operation.js";
import type { TakeExportPermit } from "./export-permits.js";
import type { Account } from "../access/access.js";
import type { Session } from "../identity/sessions.js";
import { insertAuditEntry, type AuditEntry, type Changed } from "../access/audit-entries.js";
import type { Postgres } from "../postgres/query.js";

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
export interface Route<Named extends Action = Action> {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** `param` reads segments such as `:owner`. If two paths match, the one registered first answers. */
  path: string | string[];
  action: Named;
  /** Its description in the OpenAPI document. */
  operation: Operation;
  handle: (call: Call<Named>) => Promise<void>;
}

/** The argument of a handler. */
export interface Call<Named extends Action = Action> {
  ctx: ApiContext;
  account: Account;
  action: Named;
  /** A path parameter, percent-decoded after routing: it may contain `/`. */
  param: (name: string) => string;
  /** Writes the changes of this call to the audit log, in the transaction of the change. */
  record: (client: Postgres, changed: Changed) => Promise<void>;
  /** The entry that `record` writes, for a change that writes it itself. */
  auditEntry: (changed: Changed) => AuditEntry;
}

/** A read that needs no token: about the service itself, or of a package that its admins made public. */
export interface PublicRoute {
  method: "GET";
  path: string;
  operation: Operation;
  handle: (ctx: ApiContext) => Promise<void> | void;
}

export interface ApiState {
  requestId: string;
  /** Adds the request's id to every line. */
  log: Logger;
  /** The URL of the API as callers reach it, without a slash at its end. */
  publicBase: string;
  /** The URL of live collection as this host's callers reach it, as far as is known: for lines to copy. */
  collectBase: string;
  account?: Account;
  /** The signed-in browser; only below `/dashboard`. */
  session?: Session;
  /** The pattern of the matched route. */
  route?: string;
  /** Shares exports among callers; see `openExportPermits`. */
  takeExportPermit?: TakeExportPermit;
  /** The time limit for the body of a management request. */
  bodyMsMax: number;
  /** Set once an answer was broken off. */
  failed?: boolean;
}

export type ApiContext = ParameterizedContext<ApiState>;

/** Preserves the literal type of the action, for handlers that pass it to functions for some actions only. */
export function route<Named extends Action>(described: Route<Named>): Route {
  return described as unknown as Route;
}

/** `tracking-pixels` is an older word for `pixels`, and accepted everywhere in its place. */
export function pathsOf({ path }: Route): string[] {
  const paths = typeof path === "string" ? [path] : path;
  const older = paths.filter((each) => each.includes("/pixels"));
  return [...paths, ...older.map((each) => each.replace("/pixels", "/tracking-pixels"))];
}

/**
 * Runs a route for an authenticated request. Without an account it answers 401, and without the action's scope 403,
 * both before any lookup, so that neither reveals whether the target exists.
 */
export async function callRoute(route: Route, ctx: ApiContext): Promise<void> {
  const { action, handle } = route;
  const { account } = ctx.state;
  ctx.state.route = pathsOf(route)[0] ?? "none";
  if (account === undefined) throw new Problem("unauthenticated", "A token is needed.");
  requireScope(account, action);
  refuseUnknownParameters(ctx.query, route.operation);
  const by = { accountId: account.id, tokenName: account.limited?.name, requestId: ctx.state.requestId };
  const auditEntry = (changed: Changed) => ({ ...changed, by, action });
  await handle({
    ctx,
    account,
    action,
    param: (name) => paramOf(ctx, name),
    record: (client, changed) => insertAuditEntry(client, auditEntry(changed)),
    auditEntry,
  });
}

/** A path parameter, percent-decoded after routing. */
export function paramOf(ctx: ApiContext, name: string): string {
  const value = (ctx["params"] as Record<string, string | undefined>)[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}
