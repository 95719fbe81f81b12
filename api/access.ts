import type { Scope } from "../schemas/contracts/api-token.js";
import { ACTIONS, type Action } from "./resources.js";

/**
 * Decides which caller may do which action. Pure; `authorise.ts` loads its arguments.
 *
 * A standing comes from the owner of a thing: a user stands as `owner` to what is theirs, others by their role in
 * the organization. A level is what a package's own permissions say of the caller, and it replaces the standing on
 * that package: `admin` may do everything on it, `member` may read it and its exports, `blocked` nothing at all.
 * Only an owner keeps the owner's rights whatever the level.
 */
export function access(caller: Caller, action: Action, target: Target): Decision {
  const { on, least } = ACTIONS[action];
  if (on === "service") return "allowed";
  if (on === "organization" && target.ownerKind !== "organization") return "hidden";
  const rank = on === "package" ? rankOnPackage(caller) : RANK[caller.standing];
  if (rank === RANK.none) return "hidden";
  return rank >= RANK[least] ? "allowed" : "forbidden";
}

/**
 * Finds what a limited token lacks for an action, on any target: a scope, or `account` where only the account's
 * own token will do, or `any-owner` where it is limited to one and the action is on none yet. It says nothing about
 * any thing, so it may be asked, and answered, before the thing is looked for.
 */
export function lacks(limits: TokenLimits | undefined, action: Action): Lack | undefined {
  if (limits === undefined) return undefined;
  const { on, scope } = ACTIONS[action];
  if (scope === "account" || !limits.scopes.includes(scope)) return scope;
  return on === "service" && scope === "manage" && limits.ownerId !== undefined ? "any-owner" : undefined;
}

/**
 * `access` through a token that may be limited to one owner: on another's things nothing is done. What the account
 * itself may not know of stays hidden; of the rest, the token learns no more than that it is not for it.
 */
export function accessWithin(
  caller: Caller & { limits: TokenLimits | undefined },
  action: Action,
  target: Target & { ownerId: string },
): Decision | "out-of-scope" {
  const decision = access(caller, action, target);
  return decision === "hidden" || reaches(caller.limits, target.ownerId) ? decision : "out-of-scope";
}

/** Whether a token may be used on what belongs to this owner. */
export function reaches(limits: TokenLimits | undefined, ownerId: string): boolean {
  return limits?.ownerId === undefined || limits.ownerId === ownerId;
}

/** The limits of an additional token. An account's own token has none. */
export interface TokenLimits {
  scopes: readonly Scope[];
  /** The only owner on whose things it may be used. */
  ownerId?: string | undefined;
}

export type Lack = Scope | "account" | "any-owner";

/** `hidden`: the caller may not even learn that the thing exists, and is answered as if it did not. */
export type Decision = "allowed" | "forbidden" | "hidden";

export type OwnerKind = "user" | "organization";

export type Standing = "none" | "member" | "admin" | "owner";
export type Level = "blocked" | "member" | "admin";

export interface Caller {
  standing: Standing;
  /** Explicit level on the package in question; absent for `default`. */
  level?: Level | undefined;
}

export interface Target {
  ownerKind: OwnerKind;
}

/** `reader` is a caller whose explicit level is `member`: it reads exports too, which the role member does not. */
const RANK = { none: 0, member: 1, reader: 2, admin: 3, owner: 4 } as const;

function rankOnPackage({ standing, level }: Caller): number {
  if (standing === "owner") return RANK.owner;
  if (level === "blocked") return RANK.none;
  if (level === "admin") return RANK.admin;
  if (level === "member") return RANK.reader;
  return RANK[standing];
}
