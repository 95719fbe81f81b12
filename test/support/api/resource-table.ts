import { expect } from "vitest";
import { createSealer } from "../../../api/base/identity/tokens.js";
import type { Quotas } from "../../../api/base/access/quotas.js";
import type { Route } from "../../../api/base/http/route.js";
import { createGuard } from "../../../api/base/outbound/guard-address.js";
import { erasureRoutes } from "../../../api/features/erasures/erasure-routes.js";
import { notificationRoutes } from "../../../api/features/notifications/notification-routes.js";
import { annotationRoutes } from "../../../api/features/packages/annotations/annotation-routes.js";
import { sourceRoutes } from "../../../api/features/sources/source-routes.js";
import { webhookRoutes } from "../../../api/features/webhooks/webhook-routes.js";
import type { Pool } from "pg";
import { SECRET_KEY } from "./management-api.js";
import { TIMESTAMP, UUID, type Who } from "./management-world.js";

/** Where records are created: an organization, an account, and a package of the organization. */
export interface ResourcePlace {
  organization: string;
  account: string;
  packageId: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a resource's operations take and return, field by field, and what the audit log gets. */
export interface TabledResource {
  plural: string;
  /** Of the list. */
  path: (place: ResourcePlace) => string;
  /** Of records, where they are not below the list. */
  recordPath?: string;
  /** By default `id`. */
  key?: "id" | "name" | "uuid";
  /** The body for the nth record of a place: every field that can be sent. */
  sent: (nth: number, place: ResourcePlace) => Fields;
  /** The record that it becomes: every field. */
  record: (nth: number, place: ResourcePlace) => Fields;
  /** Shown with a new record alone, or in a list alone. */
  created?: Fields;
  listed?: Fields;
  /** Changes every field that can be changed; a removed field is null. `shown` is the part of it that records show. */
  update?: { sent: (record: Fields) => Fields; changes: Fields; shown?: Fields; name?: string };
  audit: {
    /** By default the organization. */
    owner?: (record: Fields, place: ResourcePlace) => string;
    kind: string;
    /** Names of the actions, or the only one. */
    actions: string | { create: string; update?: string; delete?: string };
    name: (sent: Fields) => unknown;
    /** By default what was sent. */
    created?: (sent: Fields, place: ResourcePlace) => Fields;
    deleted?: (sent: Fields, place: ResourcePlace) => Fields;
  };
  /** Its records have an `ETag`, which `If-Match` requires. */
  hasTags: boolean;
  hasQuota: boolean;
  /** An existing record for the roles, where a new one is its creator's alone. */
  existing?: (place: ResourcePlace) => Fields;
  roles: Readonly<Record<RoleName, string>>;
}

/** Operations in the order of the letters in `roles`; those that a resource does not have are `-`. */
export const OPERATIONS = ["create", "list", "get", "update", "delete"] as const;
export type ResourceOperation = (typeof OPERATIONS)[number];

/** Roles in the organization, and levels on the package. */
export const ROLES: readonly TabledRole[] = [
  { name: "owner", who: "owner" },
  { name: "admin", who: "admin" },
  { name: "member", who: "member" },
  { name: "blocked admin", who: "admin", level: "blocked" },
  { name: "package admin", who: "stranger", level: "admin" },
  { name: "package member", who: "stranger", level: "member" },
  { name: "stranger", who: "stranger" },
  { name: "nobody", who: "nobody" },
];

export interface TabledRole {
  name: RoleName;
  who: Who | "nobody";
  level?: string;
}

type RoleName =
  | "owner"
  | "admin"
  | "member"
  | "blocked admin"
  | "package admin"
  | "package member"
  | "stranger"
  | "nobody";

/** Allowed, Forbidden, Hidden, Unauthenticated; any other status is itself. */
export function letterOf(status: number): string {
  if (status < 300) return "A";
  return { 401: "U", 403: "F", 404: "H" }[status] ?? `(${status})`;
}

/** Members read, admins write. Levels on a package do not matter. */
const MEMBERS_READ = {
  owner: "AAAAA",
  admin: "AAAAA",
  member: "FAAFF",
  "package admin": "HHHHH",
  "package member": "HHHHH",
  stranger: "HHHHH",
  nobody: "UUUUU",
};
/** Only admins who see every package. */
const WHOLE_OWNER = { ...MEMBERS_READ, member: "FFFFF", "blocked admin": "FFFFF" };
/** The package alone decides. */
const OF_PACKAGE = {
  owner: "AA--A",
  admin: "AA--A",
  member: "FA--F",
  "blocked admin": "HH--H",
  "package admin": "AA--A",
  "package member": "FA--F",
  stranger: "HH--H",
  nobody: "UU--U",
};

const ID = expect.stringMatching(UUID) as string;
const TIME = expect.stringMatching(TIMESTAMP) as string;
const STAMPS = { created_at: TIME, updated_at: TIME };
const HOOK = "http://127.0.0.1:59999";
const KIND = "company-funnel-stage-changed";
const PACKAGE = {
  ...{ shortDescription: "The web", longDescription: "The whole web", website: "https://acme.example" },
  libraryType: "docker",
};
const REGISTRY = "https://registry.acme.example/acme/web";
const SITE = { name: "site", shortDescription: "", longDescription: null, website: null };
const ORGANIZATION = {
  ...{ description: "Tools", website: "https://acme.example", billingEmail: "pay@acme.example" },
};
const TOKEN = { scopes: ["read"], expiresAt: "2035-01-31T12:00:00.000000Z" };

export const RESOURCES: readonly TabledResource[] = [
  {
    plural: "pixels",
    path: ({ organization }) => `/v2/pixels/${organization}`,
    sent: (nth, { packageId }) => ({ name: `docs ${nth}`, package_id: packageId }),
    record: (nth, { organization, packageId }) => ({
      ...{ id: ID, owner: organization, name: `docs ${nth}`, package_id: packageId },
      ...STAMPS,
    }),
    update: {
      sent: () => ({ name: "Handbook" }),
      changes: { name: "Handbook", package_id: null, updated_at: TIME },
      name: "Handbook",
    },
    audit: {
      kind: "pixel",
      actions: { create: "pixels.create", update: "pixels.update", delete: "pixels.delete" },
      name: ({ name }) => name,
      deleted: () => ({}),
    },
    hasTags: true,
    hasQuota: true,
    roles: { ...MEMBERS_READ, "blocked admin": "-AAFF" },
  },
  {
    plural: "webhooks",
    path: ({ organization }) => `/v2/${organization}/webhooks`,
    sent: (nth) => ({ url: `${HOOK}/${nth}`, event_kinds: [KIND], enabled: false }),
    record: (nth, { organization }) => ({
      ...{ id: ID, owner: organization, url: `${HOOK}/${nth}`, event_kinds: [KIND], enabled: false },
      ...STAMPS,
    }),
    created: { secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string },
    listed: { last_24_hours: { pending: 0, delivered: 0, failed: 0, cancelled: 0, attempts: 0 } },
    update: {
      sent: () => ({ url: `${HOOK}/new`, event_kinds: ["test"], enabled: true }),
      changes: { url: `${HOOK}/new`, event_kinds: ["test"], enabled: true, updated_at: TIME },
      name: `${HOOK}/new`,
    },
    audit: { kind: "webhook", actions: "webhooks.manage", name: ({ url }) => url },
    hasTags: true,
    hasQuota: true,
    roles: WHOLE_OWNER,
  },
  {
    plural: "notifications",
    path: ({ organization }) => `/v2/${organization}/notifications`,
    sent: (nth, { packageId }) => ({
      ...{ event: "downloads-changed", package: packageId, threshold_percent: 40 + nth },
      ...{ channel: "slack", target: `${HOOK}/secret`, enabled: false },
    }),
    record: (nth, { organization, packageId }) => ({
      ...{ id: ID, owner: organization, event: "downloads-changed", package_id: packageId },
      ...{ threshold_percent: 40 + nth, channel: "slack", target: "127.0.0.1:59999", enabled: false },
      ...STAMPS,
    }),
    update: {
      sent: () => ({
        ...{ event: "weekly-digest", package: null, threshold_percent: null },
        ...{ channel: "email", target: "ada@acme.example", enabled: true },
      }),
      changes: {
        ...{ event: "weekly-digest", package_id: null, threshold_percent: null, channel: "email" },
        ...{ target: "ada@acme.example", enabled: true, confirmed: false, stopped: false, updated_at: TIME },
      },
      name: "weekly-digest by email",
    },
    audit: {
      kind: "notification",
      actions: "notifications.manage",
      name: ({ event, channel }) => `${String(event)} by ${String(channel)}`,
      created: (sent) => ({ ...sent, target: "127.0.0.1:59999" }),
    },
    hasTags: true,
    hasQuota: true,
    roles: WHOLE_OWNER,
  },
  {
    plural: "sources",
    path: ({ organization }) => `/v2/${organization}/sources`,
    sent: (nth, { packageId }) => ({ kind: "npm", name: `pad-${nth}`, package: packageId, enabled: false }),
    record: (nth, { organization, packageId }) => ({
      ...{ id: ID, owner: organization, kind: "npm", name: `pad-${nth}`, package_id: packageId },
      enabled: false,
      ...STAMPS,
    }),
    update: {
      sent: () => ({ kind: "pypi", name: "flask", package: null, enabled: true }),
      changes: {
        ...{ kind: "pypi", name: "flask", package_id: null, enabled: true },
        ...{ next_run_at: TIME, updated_at: TIME },
      },
      name: "pypi flask",
    },
    audit: {
      kind: "source",
      actions: "sources.manage",
      name: ({ kind, name }) => `${String(kind)} ${String(name)}`,
    },
    hasTags: true,
    hasQuota: true,
    roles: { ...MEMBERS_READ, "blocked admin": "-AHHH" },
  },
  {
    plural: "annotations",
    path: ({ organization }) => `/v2/${organization}/annotations`,
    sent: (nth, { packageId }) => ({ ...noteOf(nth), package: packageId }),
    record: (nth, { organization, packageId }) => ({
      ...{ id: ID, owner: organization, ...noteOf(nth), package_id: packageId },
      ...{ kind: "note", created_at: TIME },
    }),
    audit: {
      kind: "annotation",
      actions: "annotations.manage",
      name: ({ text }) => text,
      created: ({ date }, { packageId }) => ({ date, package_id: packageId }),
      deleted: ({ date }, { packageId }) => ({ deleted: true, date, package_id: packageId }),
    },
    hasTags: false,
    hasQuota: true,
    roles: {
      ...MEMBERS_READ,
      ...{ owner: "AA--A", admin: "AA--A", member: "FA--F", "blocked admin": "-A--H" },
      ...{ "package admin": "HH--H", "package member": "HH--H", stranger: "HH--H", nobody: "UU--U" },
    },
  },
  {
    plural: "packages",
    path: ({ organization }) => `/v1/organizations/${organization}/packages`,
    recordPath: "/v1/packages",
    key: "uuid",
    sent: (nth) => ({ ...PACKAGE, name: `web ${nth}`, backendUrl: REGISTRY }),
    record: (nth, { organization }) => ({
      ...{ uuid: ID, owner: organization, ...PACKAGE, name: `web ${nth}`, createdAt: TIME },
    }),
    update: {
      sent: () => ({ name: "site", shortDescription: "", backendUrl: REGISTRY.replace("acme", "tools") }),
      changes: { ...SITE, backendUrl: REGISTRY.replace("acme", "tools"), updatedAt: TIME },
      shown: SITE,
      name: "site",
    },
    audit: {
      kind: "package",
      actions: { create: "packages.create", update: "packages.update", delete: "packages.delete" },
      name: ({ name }) => name,
      deleted: () => ({}),
    },
    hasTags: true,
    hasQuota: true,
    roles: {
      ...MEMBERS_READ,
      ...{ "blocked admin": "AAHHH", "package admin": "HHAAA", "package member": "HHAFF" },
    },
  },
  {
    plural: "routes",
    path: ({ packageId }) => `/v1/packages/${packageId}/routes`,
    sent: (nth) => routeOf(nth),
    record: (nth) => ({ id: ID, ...routeOf(nth) }),
    audit: {
      kind: "route",
      actions: { create: "routes.write", delete: "routes.write" },
      name: ({ templatePath }) => templatePath,
      created: (sent, { packageId }) => ({ package: packageId, ...sent }),
      deleted: (_, { packageId }) => ({ package: packageId, outgoingUrl: null, templatePath: null }),
    },
    hasTags: true,
    hasQuota: true,
    roles: OF_PACKAGE,
  },
  {
    plural: "domains",
    path: ({ packageId }) => `/v1/packages/${packageId}/domains`,
    sent: (nth, { organization }) => ({ name: `files${nth}.${organization.toLowerCase()}.example` }),
    record: (nth, { organization }) => ({
      ...{ id: ID, name: `files${nth}.${organization.toLowerCase()}.example` },
    }),
    audit: {
      kind: "domain",
      actions: "domains.write",
      name: ({ name }) => name,
      created: (sent, { packageId }) => ({ package: packageId, ...sent }),
      deleted: (_, { packageId }) => ({ package: packageId, name: null }),
    },
    hasTags: true,
    hasQuota: true,
    roles: OF_PACKAGE,
  },
  {
    plural: "organizations",
    path: () => "/v1/organizations",
    key: "name",
    sent: (nth, { organization }) => ({ ...ORGANIZATION, name: `${organization}-${nth}` }),
    record: (nth, { organization }) => ({
      ...{ ...ORGANIZATION, name: `${organization}-${nth}`, createdAt: TIME, updatedAt: TIME },
    }),
    update: {
      sent: ({ name }) => ({ name, description: "", billingEmail: "ada@acme.example" }),
      changes: { description: "", website: null, billingEmail: "ada@acme.example", updatedAt: TIME },
    },
    audit: {
      owner: ({ name }) => String(name),
      kind: "organization",
      actions: { create: "organization.create", update: "organization.update" },
      name: ({ name }) => name,
    },
    hasTags: true,
    hasQuota: true,
    existing: ({ organization }) => ({ name: organization }),
    roles: {
      owner: "A-AA-",
      admin: "A-AA-",
      member: "A-AF-",
      "blocked admin": "A-AA-",
      "package admin": "A-HH-",
      "package member": "A-HH-",
      stranger: "A-HH-",
      nobody: "U-UU-",
    },
  },
  {
    plural: "tokens",
    path: () => "/v1/user/tokens",
    sent: (nth, { organization }) => ({ ...TOKEN, name: `ci ${nth}`, owner: organization }),
    record: (nth, { organization }) => ({
      ...{ id: ID, ...TOKEN, name: `ci ${nth}`, owner: organization, createdAt: TIME },
    }),
    created: { token: expect.stringMatching(/^mtk_[\w-]{43}$/) as string },
    audit: {
      owner: (_, { account }) => account,
      kind: "token",
      actions: { create: "tokens.create", delete: "tokens.revoke" },
      name: ({ name }) => name,
      deleted: () => ({}),
    },
    hasTags: false,
    hasQuota: true,
    roles: {
      owner: "AA--A",
      admin: "AA--H",
      member: "AA--H",
      "blocked admin": "AA--H",
      "package admin": "-A--H",
      "package member": "-A--H",
      stranger: "-A--H",
      nobody: "UU--U",
    },
  },
  {
    plural: "erasures",
    path: ({ organization }) => `/v2/${organization}/erasures`,
    sent: (nth) => ({ endpoint_id: String(10 + nth).repeat(16) }),
    record: (_, { organization }) => ({
      ...{ id: ID, owner: organization, client: "endpoint_id", status: "erasing", waiting_for: null },
      ...{ events_erased: 0, rejected_lines_erased: 0, created_at: TIME, finished_at: null },
    }),
    audit: {
      kind: "erasure",
      actions: { create: "erasures.create" },
      name: () => "endpoint_id",
      created: () => ({}),
    },
    hasTags: false,
    hasQuota: false,
    roles: {
      owner: "AAA--",
      admin: "AAA--",
      member: "FFF--",
      "blocked admin": "FAA--",
      "package admin": "HHH--",
      "package member": "HHH--",
      stranger: "HHH--",
      nobody: "UUU--",
    },
  },
];

function noteOf(nth: number) {
  return {
    ...{ date: `2026-03-${9 + nth}`, end_date: `2026-04-${9 + nth}` },
    ...{ text: `Conference ${nth}`, url: `https://example.org/${nth}` },
  };
}

function routeOf(nth: number) {
  return { templatePath: `/tool-${nth}/{version}`, outgoingUrl: `https://example.org/${nth}/{version}` };
}

/** The routes of resources that the management API does not have. */
export function resourceRoutes({ pg, quotas }: { pg: Pool; quotas: Quotas }): Route[] {
  const deps = {
    pg,
    quotas,
    guard: createGuard({ allowPrivateNetworks: true }),
    sealer: createSealer(SECRET_KEY, "webhook-secret"),
    sendMail: () => Promise.resolve(),
    // No registry is asked.
    access: { fetch: () => () => Promise.reject(new Error("not asked")), urls: {} },
  };
  const makers = [webhookRoutes, notificationRoutes, sourceRoutes, annotationRoutes, erasureRoutes];
  return makers.flatMap((make) => make(deps));
}
