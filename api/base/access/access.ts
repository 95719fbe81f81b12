import type { Scope } from "../../../schemas/contracts/user.js";
import { ACTIONS, type Action } from "./resources.js";

/**
 * Decides whether a caller may do an action. Pure: `authorise.ts` loads the arguments.
 *
 * A standing is the caller's relation to the owner of a thing: a user is `owner` of their own things; for an
 * organization it is the role in it. A level is the caller's explicit permission on one package. It replaces the
 * standing on that package: `admin` may do everything, `member` may read the package and its exports, `blocked` may do
 * nothing. An owner keeps all rights whatever the level.
 */
export function access(caller: Caller, action: Action, target: Target): Decision {
  const { on, least } = ACTIONS[action];
  if (on === "service") return "allowed";
  if (on === "organization" && target.ownerKind !== "organization") return "hidden";
  const rank = on === "package" ? rankOnPackage(caller) : RANK[caller.standing];
  if (rank === RANK.none) return "hidden";
  return rank >= RANK[least] ? "allowed" : "forbidden";
}

/** What a limited token lacks for an action on any target. No stored data decides: safe before any lookup. */
export function lacks(limits: TokenLimits | undefined, action: Action): Lack | undefined {
  const { on, scope } = ACTIONS[action];
  if (limits === undefined || scope === "any") return undefined;
  if (scope === "account" || !limits.scopes.includes(scope)) return scope;
  return on === "service" && scope === "manage" && limits.ownerId !== undefined ? "any-owner" : undefined;
}

/** As `access`, but a token for one owner may do nothing outside of it. What the account may not see stays hidden. */
export function accessWithin(
  caller: Caller & { limits: TokenLimits | undefined },
  action: Action,
  target: Target & { ownerId: string },
): Decision | "out-of-scope" {
  const decision = access(caller, action, target);
  return decision === "hidden" || reaches(caller.limits, target.ownerId) ? decision : "out-of-scope";
}

export function reaches(limits: TokenLimits | undefined, ownerId: string): boolean {
  return limits?.ownerId === undefined || limits.ownerId === ownerId;
}

/** The limits of an additional token. An account's own token has no limits. */
interface TokenLimits {
  scopes: readonly Scope[];
  /** The only owner on whose things the token may be used. */
  ownerId?: string | undefined;
}

export type Lack = Scope | "account" | "any-owner";

/** `hidden`: the caller may not learn that the thing exists. The answer is the same as for a missing thing. */
export type Decision = "allowed" | "forbidden" | "hidden";

export type OwnerKind = "user" | "organization";

export type Standing = "none" | "member" | "admin" | "owner";
export type Level = "blocked" | "member" | "admin";

export interface Caller {
  standing: Standing;
  /** Explicit level on the package; absent for `default`. */
  level?: Level | undefined;
}

interface Target {
  ownerKind: OwnerKind;
}

/** `reader` is a caller with the explicit level `member`. A reader may read exports; the role `member` may not. */
const RANK = { none: 0, member: 1, reader: 2, admin: 3, owner: 4 } as const;

function rankOnPackage({ standing, level }: Caller): number {
  if (standing === "owner") return RANK.owner;
  if (level === "blocked") return RANK.none;
  if (level === "admin") return RANK.admin;
  if (level === "member") return RANK.reader;
  return RANK[standing];
}

export interface User {
  id: string;
  username: string;
}

export interface Account extends User {
  /** The keyed hash of the request's token. */
  tokenHash: Buffer;
  /** The additional token of the request; absent for the account's own, which has no limits. */
  limited?: LimitedToken | undefined;
}

export interface LimitedToken extends TokenLimits {
  id: string;
  name: string;
}
