import type { Decision, OwnerKind } from "../../../api/base/access/access.js";
import type { Action } from "../../../api/base/access/resources.js";
import type { Route } from "../../../api/base/http/route.js";
import { updateExportEnabled } from "../../../api/features/exports/export-grants.js";
import { MATES, type PARAMETERS, type Place, makeImport, makeNotification } from "./access-place.js";
import type { Scope } from "../../../schemas/contracts/user.js";
import { CALLERS, type TabledCaller, tabledDecision } from "./access-table.js";
import { TOKEN_ROUTES } from "./all-routes.js";

/** A valid request of a route: it succeeds for every caller with the right. */
export interface TabledRequest extends Asked {
  name: string;
  route: Route;
}

interface Asked {
  /** The difference from the usual request of its route. */
  title?: string;
  /** Parameters of the path that are other than `PARAMETERS` has them. */
  path?: typeof PARAMETERS;
  query?: (place: Place) => string;
  headers?: Record<string, string>;
  /** What a limited token needs beside the scope of the route. */
  furtherScope?: Scope;
  /** Text is sent as it is, all else as JSON. */
  body?: (place: Place) => unknown;
  /** From what the table says of actions; the decision on the route's own action where nothing is said. */
  decide?: (on: On) => Decision;
}

type On = (action: Action) => Decision;

/** The table's decision about a request, with `on` for its decision about each action. */
export function expectedDecision(
  { route, decide }: TabledRequest,
  { ownerKind, on }: { ownerKind: OwnerKind; on: On },
): Decision {
  const [, only = ownerKind] = /^\/v1\/(organization|user)s\/:/.exec(String(route.path)) ?? [];
  if (only !== ownerKind) return "hidden";
  return decide === undefined ? on(route.action) : decide(on);
}

/** An owner who may make the request: of an organization or, where that is for users only, the user. */
export function ownerAllowed(request: TabledRequest): TabledCaller {
  const owners = CALLERS.filter(({ caller }) => caller.standing === "owner" && caller.level === undefined);
  const may = (caller: TabledCaller) =>
    expectedDecision(request, { ...caller, on: (action) => tabledDecision(action, caller) }) === "allowed";
  const owner = owners.findLast(may);
  if (owner === undefined) throw new Error(`the table has no owner who may: ${request.name}`);
  return owner;
}

const PACKAGE = { name: "web", shortDescription: "The web", libraryType: "other" };
const ORGANIZATION = { description: "Other tools", billingEmail: "pay@example.org" };
const LINE = { $time: "2026-08-04" };
const SOURCE = { kind: "npm", name: "left-pad" };
const WEBHOOK = { url: "http://127.0.0.1:59999/", event_kinds: ["company-funnel-stage-changed"] };
const DAY = "?startDate=2026-08-04&endDate=2026-08-05";

/** The package alone decides on the imports into it, whatever the caller is to its owner. */
const ofPackage = ({ ended = true } = {}): Asked => ({
  title: "of an import into the package",
  path: { import: (place) => makeImport(place, { of: "package", ended }) },
  decide: (on) => on("packages.import"),
});

/** Its lines may be of any package: they are not for a caller who is blocked from one. */
const ofAny = (action: Action, { ended = true } = {}): Asked => ({
  path: { import: (place) => makeImport(place, { of: "any", ended }) },
  decide: (on) => (on(action) === "allowed" && on("packages.read") === "hidden" ? "forbidden" : on(action)),
});

/** The rows of a package that one may not export are left out; asked for alone, it is not there. */
const NARROWED: Asked = {
  title: "of the package alone",
  query: ({ packageId }) => `${DAY}&package=${packageId}`,
  decide(on) {
    const allowed = on("export.read") === "allowed" && on("packages.export") !== "allowed";
    return allowed ? "hidden" : on("export.read");
  },
};

/** Webhooks tell of all packages. */
const OF_WEBHOOKS: Asked = { decide: onAllPackages("webhooks.manage") };
const OF_NOTIFICATIONS: Asked = { decide: onAllPackages("notifications.manage") };
const makeReceiver = (place: Place) =>
  makeNotification(place, { channel: "email", target: "grace@elsewhere.example" });
const NOTIFICATION = { event: "weekly-digest", channel: "slack", target: "http://127.0.0.1:59999/" };

/** Without a role, the package that the caller may read is counted alone. */
const STATISTICS: Asked = {
  decide: (on) => (on("stats.read") === "hidden" ? on("packages.read") : on("stats.read")),
};
const STATISTICS_OF_PACKAGE: Asked = {
  title: "of the package alone",
  query: ({ packageId }) => `?package=${packageId}`,
  decide: (on) => on("packages.read"),
};

const AS_CSV: Asked = { headers: { accept: "text/csv" }, furtherScope: "export" };
/** Leaves the service as a file: an export, of the package alone where it is asked for. */
const CSV: readonly Asked[] = [
  { ...AS_CSV, title: "as CSV", decide: (on) => on("export.read") },
  {
    ...STATISTICS_OF_PACKAGE,
    ...AS_CSV,
    title: "of the package alone as CSV",
    decide: (on) => on("packages.export"),
  },
];

/** An export of what is about all packages. */
const COMPANIES_AS_CSV: Asked = {
  ...AS_CSV,
  title: "as CSV",
  decide(on) {
    const decision = onAllPackages("funnel.read")(on);
    return decision === "allowed" ? on("export.read") : decision;
  },
};

const EXPORT: readonly Asked[] = [{ query: () => DAY }, NARROWED];

/** Routes of which more must be known than their paths, or of which what is asked for matters to the decision. */
const ASKED: Readonly<Record<string, readonly Asked[]>> = {
  "POST /v1/user/tokens": [{ body: () => ({ name: "laptop", scopes: ["read"] }) }],
  "POST /v1/organizations": [{ body: ({ caller }) => ({ ...ORGANIZATION, name: `${caller.name}-tools` }) }],
  "PUT /v1/organizations/:organization": [{ body: ({ owner }) => ({ ...ORGANIZATION, name: owner.name }) }],
  "POST /v1/organizations/:organization/users": [
    { body: () => ({ username: MATES.none, role: "admin" }) },
    {
      title: "of a new owner",
      body: () => ({ username: MATES.none, role: "owner" }),
      decide: (on) => on("members.write-owner"),
    },
    {
      title: "of an owner who shall be a member",
      body: () => ({ username: MATES.otherOwner, role: "member" }),
      decide: (on) => on("members.write-owner"),
    },
  ],
  "DELETE /v1/organizations/:organization/users/:username": [
    {},
    {
      title: "of the caller",
      path: { username: ({ caller }) => caller.name },
      decide: (on) => on("members.leave"),
    },
    {
      title: "of an owner",
      path: { username: () => MATES.otherOwner },
      decide: (on) => on("members.write-owner"),
    },
  ],
  // In the caller's own name, whatever else there is.
  "POST /v1/packages": [{ body: () => PACKAGE, decide: () => "allowed" }],
  "POST /v1/organizations/:organization/packages": [{ body: () => PACKAGE }],
  "PUT /v1/packages/:package": [{ body: () => PACKAGE }],
  "POST /v1/packages/:package/permissions": [
    { body: () => ({ userQuery: MATES.none, permissionLevel: "member" }) },
  ],
  "POST /v1/packages/:package/routes": [{ body: () => ({ templatePath: "/{file}", outgoingUrl: "" }) }],
  "POST /v1/packages/:package/domains": [{ body: ({ owner }) => ({ name: `${owner.name}.example.org` }) }],
  "PUT /v2/packages/:owner/:package/public": [{ body: () => ({ public: "badge" }) }],
  "PUT /v2/packages/:owner/:package/end-of-life": [
    { body: () => ({ versions: [{ version: "1.x", date: "2026-06-30" }] }) },
  ],
  "POST /v2/pixels/:owner": [{ body: () => ({ name: "Manual" }) }],
  "PUT /v2/pixels/:owner/:pixel": [{ body: () => ({ name: "Manual" }) }],
  "POST /v2/packages/:owner/:package/import": [{ body: () => LINE }],
  "POST /v2/pixels/:owner/:pixel/import": [{ body: () => LINE }],
  "POST /v2/:owner/import": [{ body: ({ packageId }) => ({ ...LINE, $package: packageId }) }],
  "POST /v2/imports/:owner/:import/abort": [
    ofAny("imports.abort", { ended: false }),
    ofPackage({ ended: false }),
  ],
  "DELETE /v2/imports/:owner/:import": [ofAny("imports.retract"), ofPackage()],
  "GET /v2/imports/:owner/:import": [{}, ofPackage()],
  "GET /v2/imports/:owner/:import/faults": [ofAny("imports.read"), ofPackage()],
  "GET /v2/imports/:owner/:import/log": [ofAny("imports.read"), ofPackage()],
  "GET /v2/imports/:owner/:import/rejected": [ofAny("imports.read"), ofPackage()],
  "POST /v2/:owner/erasures": [
    { body: () => ({ endpoint_id: "0f".repeat(16) }), decide: onAllPackages("erasures.create") },
  ],
  "GET /v2/:owner/notifications": [OF_NOTIFICATIONS],
  "POST /v2/:owner/notifications": [{ body: () => NOTIFICATION, ...OF_NOTIFICATIONS }],
  "GET /v2/:owner/notifications/:notification": [OF_NOTIFICATIONS],
  "PUT /v2/:owner/notifications/:notification": [{ body: () => ({ enabled: false }), ...OF_NOTIFICATIONS }],
  "DELETE /v2/:owner/notifications/:notification": [OF_NOTIFICATIONS],
  "GET /v2/:owner/notifications/:notification/preview": [OF_NOTIFICATIONS],
  "POST /v2/:owner/notifications/:notification/confirmation": [
    { path: { notification: makeReceiver }, ...OF_NOTIFICATIONS },
  ],
  "POST /v2/:owner/notifications/:notification/send": [OF_NOTIFICATIONS],
  "GET /v2/:owner/webhooks": [OF_WEBHOOKS],
  "POST /v2/:owner/annotations": [{ body: () => ({ date: "2026-08-04", text: "Version 2" }) }],
  "POST /v2/:owner/sources": [{ body: () => SOURCE }],
  "PUT /v2/:owner/sources/:source": [{ body: () => ({ enabled: false }) }],
  "GET /v2/:owner/reported": [{ query: () => DAY }],
  "GET /v2/:owner/reported.:format": [{ query: () => DAY }],
  "POST /v2/:owner/webhooks": [{ body: () => WEBHOOK, ...OF_WEBHOOKS }],
  "GET /v2/:owner/webhooks/:webhook": [OF_WEBHOOKS],
  "PUT /v2/:owner/webhooks/:webhook": [{ body: () => ({ ...WEBHOOK, enabled: false }), ...OF_WEBHOOKS }],
  "DELETE /v2/:owner/webhooks/:webhook": [OF_WEBHOOKS],
  "POST /v2/:owner/webhooks/:webhook/test": [OF_WEBHOOKS],
  "POST /v2/:owner/webhooks/:webhook/rotate-secret": [OF_WEBHOOKS],
  "DELETE /v2/:owner/webhooks/:webhook/old-secret": [OF_WEBHOOKS],
  "GET /v2/:owner/webhooks/:webhook/last-24-hours": [OF_WEBHOOKS],
  "GET /v2/:owner/webhooks/:webhook/deliveries": [OF_WEBHOOKS],
  "POST /v2/:owner/webhooks/:webhook/deliveries/:delivery/redeliver": [OF_WEBHOOKS],
  // What the tools answer is in assistants.test.ts.
  "POST /mcp": [
    {
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: () => ({ jsonrpc: "2.0", id: 1, method: "ping" }),
    },
  ],
  "PUT /v2/:owner/funnel/importance": [{ body: () => ({ packages: [], pixels: [] }) }],
  "GET /v2/:owner/companies": [{ decide: onAllPackages("funnel.read") }, COMPANIES_AS_CSV],
  "GET /v2/:owner/companies/:company": [{ decide: onAllPackages("funnel.read") }],
  "GET /v2/:owner/funnel": [{ decide: onAllPackages("funnel.read") }],
  "POST /v2/:owner/funnel/run": [{ decide: onAllPackages("funnel.manage") }],
  "GET /v2/:owner/stats": [STATISTICS, STATISTICS_OF_PACKAGE, ...CSV],
  "GET /v2/:owner/stats/packages": [STATISTICS],
  "GET /v2/:owner/live": [STATISTICS],
  "GET /v2/:owner/live/stream": [STATISTICS],
  "GET /v2/:owner/stats/adoption": [STATISTICS_OF_PACKAGE, ...CSV.slice(-1)],
  "GET /v2/:owner/stats/:breakdown": [STATISTICS, STATISTICS_OF_PACKAGE, ...CSV],
  "GET /v1/organizations/:owner/aggregates": EXPORT,
  "GET /v1/users/:owner/aggregates": EXPORT,
  "GET /v1/organizations/:owner/aggregates.:format": EXPORT,
  "GET /v1/users/:owner/aggregates.:format": EXPORT,
  "GET /v1/packages/:package/events/:filename": [{ query: () => DAY }],
  // Only of pixels that the caller may export: their own ones.
  "GET /v1/pixels/events/:filename": [
    { path: { filename: grantedFile }, query: () => DAY, decide: () => "allowed" },
  ],
};

/** Counts over all packages would reveal a blocked one: a caller who is blocked from one is refused. */
function onAllPackages(action: Action): (on: On) => Decision {
  return (on) => {
    const decision = on(action);
    return decision === "allowed" && on("packages.read") === "hidden" ? "forbidden" : decision;
  };
}

async function grantedFile({ pg, caller }: Place): Promise<string> {
  await updateExportEnabled(pg, { name: caller.name, exportEnabled: true });
  return "events.csv";
}

/** Every route with at least one request. */
export const REQUESTS: readonly TabledRequest[] = TOKEN_ROUTES.flatMap((route) => {
  const name = `${route.method} ${String(route.path)}`;
  const asked = ASKED[name] ?? [{}];
  return asked.map((each) => ({ ...each, route, name: [name, each.title].filter(Boolean).join(" ") }));
});
