import type { Scope } from "../../../schemas/contracts/user.js";

/**
 * Every resource of the API: its tag in the OpenAPI document, its word in the audit log, and its actions. The action
 * `pixels.read` is the `read` of `pixels` here. A new resource needs an entry here and its routes.
 *
 * An action names its target, the least relation to it that the caller needs, and the scope that a token needs. `on`
 * the service: for every account. `on` an owner: for things of a user or an organization. The scope `account` means the
 * account's own token: a limited token must not make tokens that can do more than it. With `any`, the operations that it
 * leads to decide.
 */
export const RESOURCES = {
  organization: {
    tag: "Organizations",
    auditKind: "organization",
    actions: {
      create: { on: "service", least: "none", scope: "manage" },
      read: { on: "organization", least: "member", scope: "read" },
      update: { on: "organization", least: "admin", scope: "manage" },
    },
  },
  members: {
    tag: "Organizations",
    auditKind: "member",
    actions: {
      read: { on: "organization", least: "member", scope: "read" },
      write: { on: "organization", least: "admin", scope: "manage" },
      leave: { on: "organization", least: "member", scope: "manage" },
      "write-owner": { on: "organization", least: "owner", scope: "manage" },
    },
  },
  user: {
    tag: "Account",
    auditKind: "user",
    actions: {
      read: { on: "service", least: "none", scope: "read" },
      "rotate-token": { on: "service", least: "none", scope: "account" },
    },
  },
  tokens: {
    tag: "Account",
    auditKind: "token",
    actions: {
      list: { on: "service", least: "none", scope: "account" },
      create: { on: "service", least: "none", scope: "account" },
      revoke: { on: "service", least: "none", scope: "account" },
    },
  },
  audit: {
    tag: "Account",
    actions: { read: { on: "owner", least: "admin", scope: "manage" } },
  },
  packages: {
    tag: "Packages",
    auditKind: "package",
    isCollected: true,
    actions: {
      "list-own": { on: "service", least: "none", scope: "read" },
      list: { on: "owner", least: "member", scope: "read" },
      create: { on: "owner", least: "admin", scope: "manage" },
      read: { on: "package", least: "member", scope: "read" },
      export: { on: "package", least: "reader", scope: "export" },
      update: { on: "package", least: "admin", scope: "manage" },
      delete: { on: "package", least: "admin", scope: "manage" },
      import: { on: "package", least: "admin", scope: "import" },
    },
  },
  permissions: {
    tag: "Packages",
    auditKind: "permission",
    actions: {
      read: { on: "package", least: "admin", scope: "read" },
      write: { on: "package", least: "admin", scope: "manage" },
    },
  },
  routes: {
    tag: "Routes and domains",
    auditKind: "route",
    isCollected: true,
    actions: {
      read: { on: "package", least: "member", scope: "read" },
      write: { on: "package", least: "admin", scope: "manage" },
    },
  },
  domains: {
    tag: "Routes and domains",
    auditKind: "domain",
    isCollected: true,
    actions: {
      read: { on: "package", least: "member", scope: "read" },
      write: { on: "package", least: "admin", scope: "manage" },
    },
  },
  pixels: {
    tag: "Pixels",
    auditKind: "pixel",
    isCollected: true,
    actions: {
      read: { on: "owner", least: "member", scope: "read" },
      create: { on: "owner", least: "admin", scope: "manage" },
      update: { on: "owner", least: "admin", scope: "manage" },
      delete: { on: "owner", least: "admin", scope: "manage" },
      import: { on: "owner", least: "admin", scope: "import" },
    },
  },
  imports: {
    tag: "Imports",
    auditKind: "import",
    actions: {
      start: { on: "owner", least: "admin", scope: "import" },
      read: { on: "owner", least: "admin", scope: "import" },
      abort: { on: "owner", least: "admin", scope: "import" },
      retract: { on: "owner", least: "admin", scope: "import" },
    },
  },
  export: {
    tag: "Exports",
    actions: { read: { on: "owner", least: "admin", scope: "export" } },
  },
  erasures: {
    tag: "Erasures",
    auditKind: "erasure",
    actions: {
      create: { on: "owner", least: "admin", scope: "manage" },
      read: { on: "owner", least: "admin", scope: "manage" },
    },
  },
  stats: {
    tag: "Statistics",
    actions: { read: { on: "owner", least: "member", scope: "read" } },
  },
  funnel: {
    tag: "Companies",
    actions: {
      read: { on: "owner", least: "member", scope: "read" },
      manage: { on: "owner", least: "admin", scope: "manage" },
    },
  },
  annotations: {
    tag: "Annotations",
    auditKind: "annotation",
    actions: {
      read: { on: "owner", least: "member", scope: "read" },
      manage: { on: "owner", least: "admin", scope: "manage" },
    },
  },
  sources: {
    tag: "Sources",
    auditKind: "source",
    actions: {
      read: { on: "owner", least: "member", scope: "read" },
      manage: { on: "owner", least: "admin", scope: "manage" },
    },
  },
  assistants: {
    tag: "Assistants",
    actions: { ask: { on: "service", least: "none", scope: "any" } },
  },
  webhooks: {
    tag: "Webhooks",
    auditKind: "webhook",
    actions: { manage: { on: "owner", least: "admin", scope: "manage" } },
  },
  notifications: {
    tag: "Notifications",
    auditKind: "notification",
    actions: { manage: { on: "owner", least: "admin", scope: "manage" } },
  },
} as const satisfies Record<string, Resource>;

interface Resource {
  tag: string;
  auditKind?: string;
  /** Whether live collection serves it: a change is answered once it does. */
  isCollected?: true;
  actions: Readonly<Record<string, Rule>>;
}

type Rule = { scope: Scope | "account" | "any" } & (
  | { on: "service"; least: "none" }
  | { on: "organization" | "owner"; least: "member" | "admin" | "owner" }
  | { on: "package"; least: "member" | "reader" | "admin" | "owner" }
);

type Resources = typeof RESOURCES;
type ResourceName = keyof Resources;
type VerbOf<Name extends ResourceName> = keyof Resources[Name]["actions"] & string;

export type Action = { [Name in ResourceName]: `${Name}.${VerbOf<Name>}` }[ResourceName];
type RuleOf<A extends Action> = A extends `${infer Name extends ResourceName}.${infer Verb}`
  ? Resources[Name]["actions"][Verb & VerbOf<Name>]
  : never;
type ActionOn<On extends Rule["on"]> = {
  [A in Action]: RuleOf<A> extends { on: On } ? A : never;
}[Action];
export type PackageAction = ActionOn<"package">;
export type OwnerAction = ActionOn<"organization" | "owner">;

/** `Service` is for routes without a resource. */
export type Tag = Resources[ResourceName]["tag"] | "Service";

/** Deliveries and npm names have no actions of their own: managers of a webhook send again, operators assign. */
export type AuditKind =
  | Extract<Resources[ResourceName], { auditKind: string }>["auditKind"]
  | "delivery"
  | "npm-name";

const NAMES = Object.keys(RESOURCES) as ResourceName[];

export const ACTIONS = Object.fromEntries(
  NAMES.flatMap((name) =>
    Object.entries(RESOURCES[name].actions).map(([verb, rule]) => [`${name}.${verb}`, rule]),
  ),
) as { [A in Action]: RuleOf<A> };

/** Whether the action changes what live collection serves. */
export function changesCollected(action: Action): boolean {
  const [name] = action.split(".", 1) as [ResourceName];
  return "isCollected" in RESOURCES[name] && ACTIONS[action].scope === "manage";
}

export function tagOf(action: Action): Tag {
  const [name] = action.split(".", 1) as [ResourceName];
  return RESOURCES[name].tag;
}
