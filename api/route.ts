import type { ParameterizedContext } from "koa";
import type { Logger } from "pino";
import { Problem } from "../schemas/problem.js";
import type { Action } from "./resources.js";
import { requireScope } from "./authorise/authorise.js";
import type { Operation } from "./operation.js";
import type { Account } from "./stores/accounts/accounts.js";
import { insertAuditEntry, type Changed } from "./stores/accounts/audit-entries.js";
import type { Postgres } from "./stores/query.js";

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
  /** Segments such as `:owner` are read with `param`. Where two paths match, the one registered first answers. */
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
  /** Writes into the audit log what this call changes, in the transaction that changes it. */
  record: (client: Postgres, changed: Changed) => Promise<void>;
}

/** A read that needs no token: about the service itself, never about anyone's data. */
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
  account?: Account;
  /** The pattern of the route that answers. */
  route?: string;
  /** How long the body of a management request may take. */
  bodyMsMax: number;
  /** Set once an answer broke off. */
  failed?: boolean;
}

export type ApiContext = ParameterizedContext<ApiState>;

/** Keeps the literal name of the action, so that a handler can pass it on where only some actions fit. */
export function route<Named extends Action>(described: Route<Named>): Route {
  return described as unknown as Route;
}

/** `tracking-pixels` is the older word for `pixels` and is accepted wherever that stands. */
export function pathsOf({ path }: Route): string[] {
  const paths = typeof path === "string" ? [path] : path;
  const older = paths.filter((each) => each.includes("/pixels"));
  return [...paths, ...older.map((each) => each.replace("/pixels", "/tracking-pixels"))];
}

/**
 * Runs a route for an authenticated request. A route without an account is a 401 whatever its path looks like, and a
 * token without the action's scope a 403 whatever is at that path: before anything is looked for, it reveals nothing.
 */
export async function callRoute(route: Route, ctx: ApiContext): Promise<void> {
  const { action, handle } = route;
  const { account } = ctx.state;
  ctx.state.route = pathsOf(route)[0] ?? "none";
  if (account === undefined) throw new Problem("unauthenticated", "A token is needed.");
  requireScope(account, action);
  const by = { accountId: account.id, tokenName: account.limited?.name, requestId: ctx.state.requestId };
  await handle({
    ctx,
    account,
    action,
    param: (name) => paramOf(ctx, name),
    record: (client, changed) => insertAuditEntry(client, { ...changed, by, action }),
  });
}

function paramOf(ctx: ApiContext, name: string): string {
  const value = (ctx["params"] as Record<string, string | undefined>)[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}
