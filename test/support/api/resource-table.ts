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
  /** The record that it becomes: every field. By default with id, owner and times. */
  record?: (sent: Fields, place: ResourcePlace) => Fields;
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
  /** A word for each of `ROLES` but the last, with a letter for each of `OPERATIONS`; `-` is not asked. */
  roles: string;
}

export const OPERATIONS = ["create", "list", "get", "update", "delete"] as const;
export type ResourceOperation = (typeof OPERATIONS)[number];

/** Roles in the organization, and levels on the package. */
export const ROLES = [
  { role: "owner", who: "owner" },
  { role: "admin", who: "admin" },
  { role: "member", who: "member" },
  { role: "blocked admin", who: "admin", level: "blocked" },
  { role: "package admin", who: "stranger", level: "admin" },
  { role: "package member", who: "stranger", level: "member" },
  { role: "stranger", who: "stranger" },
  { role: "nobody", who: "nobody" },
] as const satisfies readonly TabledRole[];

export interface TabledRole {
  role: string;
  who: Who | "nobody";
  level?: string;
}

/** Allowed, Forbidden, Hidden, Unauthenticated; any other status is itself. */
export function letterOf(status: number): string {
  if (status < 300) return "A";
  return { 401: "U", 403: "F", 404: "H" }[status] ?? `(${status})`;
}

/** Only admins who see every package. */
const WHOLE_OWNER = "AAAAA AAAAA FFFFF FFFFF HHHHH HHHHH HHHHH";
/** The package alone decides. */
const OF_PACKAGE = "AA--A AA--A FA--F HH--H AA--A FA--F HH--H";

const ID = expect.stringMatching(UUID) as string;
const TIME = expect.stringMatching(TIMESTAMP) as string;
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
    roles: "AAAAA AAAAA FAAFF -AAFF HHHHH HHHHH HHHHH",
  },
  {
    plural: "webhooks",
    path: ({ organization }) => `/v2/${organization}/webhooks`,
    sent: (nth) => ({ url: `${HOOK}/${nth}`, event_kinds: [KIND], enabled: false }),
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
    record: ({ package: id, ...sent }, place) => ({
      ...owned({ ...sent, target: "127.0.0.1:59999" }, place),
      package_id: id,
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
    record: ({ package: id, ...sent }, place) => ({ ...owned(sent, place), package_id: id }),
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
    roles: "AAAAA AAAAA FAAFF -AHHH HHHHH HHHHH HHHHH",
  },
  {
    plural: "annotations",
    path: ({ organization }) => `/v2/${organization}/annotations`,
    sent: (nth, { packageId }) => ({
      ...{ date: `2026-03-${9 + nth}`, end_date: `2026-04-${9 + nth}`, package: packageId },
      ...{ text: `Conference ${nth}`, url: `https://example.org/${nth}` },
    }),
    record: ({ package: id, ...sent }, { organization }) => ({
      ...{ id: ID, owner: organization, ...sent, package_id: id, kind: "note", created_at: TIME },
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
    roles: "AA--A AA--A FA--F -A--H HH--H HH--H HH--H",
  },
  {
    plural: "packages",
    path: ({ organization }) => `/v1/organizations/${organization}/packages`,
    recordPath: "/v1/packages",
    key: "uuid",
    sent: (nth, { organization }) => ({
      ...{ ...PACKAGE, name: `web ${nth}`, backendUrl: REGISTRY },
      // Hosts are one owner's.
      publicUrl: `https://${organization.toLowerCase()}.example/acme/web`,
    }),
    record: ({ backendUrl: _, publicUrl: __, ...sent }, { organization }) => ({
      ...{ uuid: ID, owner: organization, ...sent, createdAt: TIME },
    }),
    update: {
      sent: () => ({ name: "site", shortDescription: "", backendUrl: REGISTRY.replace("acme", "tools") }),
      changes: { ...SITE, backendUrl: REGISTRY.replace("acme", "tools"), publicUrl: null, updatedAt: TIME },
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
    roles: "AAAAA AAAAA FAAFF AAHHH HHAAA HHAFF HHHHH",
  },
  {
    plural: "routes",
    path: ({ packageId }) => `/v1/packages/${packageId}/routes`,
    sent: (nth) => ({
      ...{ templatePath: `/tool-${nth}/{version}`, outgoingUrl: `https://example.org/${nth}/{version}` },
    }),
    record: (sent) => ({ id: ID, ...sent }),
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
    record: (sent) => ({ id: ID, ...sent }),
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
    record: (sent) => ({ ...sent, createdAt: TIME, updatedAt: TIME }),
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
    roles: "A-AA- A-AA- A-AF- A-AA- A-HH- A-HH- A-HH-",
  },
  {
    plural: "tokens",
    path: () => "/v1/user/tokens",
    sent: (nth, { organization }) => ({ ...TOKEN, name: `ci ${nth}`, owner: organization }),
    record: (sent) => ({ id: ID, ...sent, createdAt: TIME }),
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
    roles: "AA--A AA--H AA--H AA--H -A--H -A--H -A--H",
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
    roles: "AAA-- AAA-- FFF-- FAA-- HHH-- HHH-- HHH--",
  },
];

/** The record of most resources of version 2. */
export function owned(sent: Fields, { organization }: ResourcePlace): Fields {
  return { id: ID, owner: organization, ...sent, created_at: TIME, updated_at: TIME };
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
