import type { Caller, Decision, OwnerKind } from "../../../api/base/access/access.js";
import type { Action } from "../../../api/base/access/resources.js";
import type { Scope } from "../../../schemas/contracts/user.js";

/**
 * Who may do what, as the contract has it: the decision on every action for every caller. Kept apart from the rules in
 * `api/base/access/access.ts`, so that neither can change without the other.
 */
export function tabledDecision(action: Action, { column }: Pick<TabledCaller, "column">): Decision {
  const words = TABLE[action].split(" ");
  const word = words[Math.floor(column / LEVELS.length)] ?? "";
  const letter = word.length === 1 ? word : word[column % LEVELS.length];
  const decision = DECISIONS[letter ?? ""];
  if (decision === undefined) throw new Error(`the table has no letter for ${action} in column ${column}`);
  return decision;
}

export interface TabledCaller {
  who: string;
  /** The owner of the things that the caller asks for. */
  ownerKind: OwnerKind;
  caller: Caller;
  column: number;
}

const STANDINGS = [
  { who: "the user whose it is", ownerKind: "user", standing: "owner" },
  { who: "a stranger to the user", ownerKind: "user", standing: "none" },
  { who: "an owner of the organization", ownerKind: "organization", standing: "owner" },
  { who: "an admin of the organization", ownerKind: "organization", standing: "admin" },
  { who: "a member of the organization", ownerKind: "organization", standing: "member" },
  { who: "a stranger to the organization", ownerKind: "organization", standing: "none" },
] as const;

/** Explicit levels on the package; with `default` there is none. */
const LEVELS = ["default", "member", "admin", "blocked"] as const;
const LEVEL_WORDS = {
  member: "a member of the package",
  admin: "an admin of the package",
  blocked: "blocked",
};

/** Every standing with every level. */
export const CALLERS: readonly TabledCaller[] = STANDINGS.flatMap(({ who, ownerKind, standing }) =>
  LEVELS.map((level) => ({
    ownerKind,
    ...(level === "default"
      ? { who, caller: { standing } }
      : { who: `${who}, ${LEVEL_WORDS[level]}`, caller: { standing, level } }),
  })),
).map((caller, column) => ({ ...caller, column }));

/**
 * A word for each of `STANDINGS` with a letter for each of `LEVELS`: Allowed, Forbidden or Hidden. One letter alone
 * stands for all four: what is not on a package is decided without its levels.
 */
const TABLE: Record<Action, string> = {
  "organization.create": "A A A A A A",
  "assistants.ask": "A A A A A A",
  "packages.list-own": "A A A A A A",
  "user.read": "A A A A A A",
  "user.rotate-token": "A A A A A A",
  "tokens.list": "A A A A A A",
  "tokens.create": "A A A A A A",
  "tokens.revoke": "A A A A A A",

  "organization.read": "H H A A A H",
  "organization.update": "H H A A F H",
  "members.read": "H H A A A H",
  "members.write": "H H A A F H",
  "members.leave": "H H A A A H",
  "members.write-owner": "H H A F F H",

  "packages.list": "A H A A A H",
  "packages.create": "A H A A F H",
  "pixels.read": "A H A A A H",
  "pixels.create": "A H A A F H",
  "pixels.update": "A H A A F H",
  "pixels.delete": "A H A A F H",
  "pixels.import": "A H A A F H",
  "imports.start": "A H A A F H",
  "imports.read": "A H A A F H",
  "imports.abort": "A H A A F H",
  "imports.retract": "A H A A F H",
  "audit.read": "A H A A F H",
  "webhooks.manage": "A H A A F H",
  "annotations.read": "A H A A A H",
  "annotations.manage": "A H A A F H",
  "notifications.manage": "A H A A F H",
  "sources.read": "A H A A A H",
  "sources.manage": "A H A A F H",
  "erasures.create": "A H A A F H",
  "erasures.read": "A H A A F H",
  "funnel.manage": "A H A A F H",
  "funnel.read": "A H A A A H",
  "stats.read": "A H A A A H",
  "export.read": "A H A A F H",

  "packages.read": "AAAA HAAH AAAA AAAH AAAH HAAH",
  "packages.export": "AAAA HAAH AAAA AAAH FAAH HAAH",
  "packages.update": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "packages.delete": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "packages.import": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "permissions.read": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "permissions.write": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "routes.read": "AAAA HAAH AAAA AAAH AAAH HAAH",
  "routes.write": "AAAA HFAH AAAA AFAH FFAH HFAH",
  "domains.read": "AAAA HAAH AAAA AAAH AAAH HAAH",
  "domains.write": "AAAA HFAH AAAA AFAH FFAH HFAH",
};

const DECISIONS: Record<string, Decision> = { A: "allowed", F: "forbidden", H: "hidden" };

/**
 * The only scope with which an additional token may be used for an action; `any` where each does, none where only the
 * account's own token may.
 */
export function tabledScope(action: Action): Scope | "any" | undefined {
  // Its tools have the scopes of their operations.
  if (action === "assistants.ask") return "any";
  return (Object.keys(SCOPE_TABLE) as Scope[]).find((scope) => SCOPE_TABLE[scope].includes(action));
}

const SCOPE_TABLE: Record<Scope, readonly Action[]> = {
  read: [
    ...(["user.read", "organization.read", "members.read", "pixels.read", "permissions.read"] as const),
    ...(["packages.list-own", "packages.list", "packages.read", "routes.read", "domains.read"] as const),
    ...(["stats.read", "funnel.read", "sources.read", "annotations.read"] as const),
  ],
  import: [
    ...(["imports.start", "imports.read", "imports.abort", "imports.retract"] as const),
    ...(["packages.import", "pixels.import"] as const),
  ],
  export: ["export.read", "packages.export"],
  manage: [
    ...(["organization.create", "organization.update", "audit.read", "webhooks.manage"] as const),
    ...(["notifications.manage"] as const),
    ...(["erasures.create", "erasures.read"] as const),
    ...(["funnel.manage", "sources.manage", "annotations.manage"] as const),
    ...(["members.write", "members.leave", "members.write-owner", "permissions.write"] as const),
    ...(["packages.create", "packages.update", "packages.delete", "routes.write", "domains.write"] as const),
    ...(["pixels.create", "pixels.update", "pixels.delete"] as const),
  ],
};
