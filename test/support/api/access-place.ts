import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { insertAnnotation } from "../../../api/features/packages/annotations/annotations.js";
import { insertApiToken } from "../../../api/base/identity/api-tokens.js";
import { readAccountByName } from "../../../api/base/identity/stored-accounts.js";
import { abortImport } from "../../../api/features/imports/import-endings.js";
import { insertImport } from "../../../api/features/imports/imports.js";
import { insertErasure } from "../../../api/features/erasures/erasure-routes.js";
import { insertOrganization } from "../../../api/features/accounts/organizations.js";
import { updateExportEnabled } from "../../../api/features/exports/export-grants.js";
import { insertPackage, insertPackageDomain } from "../../../api/features/packages/packages.js";
import { insertPackageRoute } from "../../../api/features/packages/package-route-routes.js";
import { insertPixel } from "../../../api/features/packages/pixels.js";
import { insertSource } from "../../../api/features/sources/sources.js";
import { insertNotification, newNotificationId } from "../../../api/features/notifications/notifications.js";
import { enqueueWebhookEvent } from "../../../api/base/outbox/webhook-outbox.js";
import { insertWebhook, newWebhookId, updateWebhookSecret } from "../../../api/features/webhooks/webhooks.js";
import { createSealer } from "../../../api/base/identity/tokens.js";
import { issueWebhookSecret } from "../../../api/features/webhooks/sign.js";
import type { TabledCaller } from "./access-table.js";
import { SECRET_KEY, type ServedApi } from "./management-api.js";
import { joinOrganization, setLevel } from "./management-world.js";

/** An owner with a caller as the table has them; nothing in it is anyone else's, so that requests may change it. */
export interface Place {
  pg: Pool;
  owner: Named;
  caller: Named & { token: string };
  /** On it the caller has the level of the table. */
  packageId: string;
}

interface Named {
  id: string;
  name: string;
}

/** Members of every organization of the table beside the caller, and one who is in none. */
export const MATES = { owner: "founder", otherOwner: "partner", member: "mate", none: "outsider" } as const;

let made = 0;

export async function makeMates(api: ServedApi): Promise<void> {
  await Promise.all(Object.values(MATES).map((name) => api.account(name)));
}

export async function makePlace(
  api: ServedApi,
  { pg, ownerKind, caller }: Pick<TabledCaller, "ownerKind" | "caller"> & { pg: Pool },
): Promise<Place> {
  const number = (made += 1);
  const asking = await makeAccount(api, pg, `caller${number}`);
  const isOwnUser = ownerKind === "user" && caller.standing === "owner";
  const owner = isOwnUser ? asking : await makeOwner(api, pg, { ownerKind, name: `owner${number}` });
  await updateExportEnabled(pg, { name: owner.name, exportEnabled: true });
  const { standing, level } = caller;
  if (ownerKind === "organization" && standing !== "none")
    await joinOrganization(pg, { organization: owner.name, username: asking.name, role: standing });
  const packageId = await insertPackage(pg, { ownerId: owner.id, package: PACKAGE });
  if (level !== undefined) await setLevel(pg, { packageId, username: asking.name, level });
  return { pg, owner, caller: asking, packageId };
}

const PACKAGE = { name: "tools", shortDescription: "", libraryType: "other" } as const;

async function makeAccount(api: ServedApi, pg: Pool, name: string): Promise<Named & { token: string }> {
  const token = await api.account(name);
  return { ...(await accountNamed(pg, name)), token };
}

async function accountNamed(pg: Pool, name: string): Promise<Named> {
  const account = await readAccountByName(pg, name);
  if (account === undefined) throw new Error(`there is no account ${name}`);
  return { id: account.id, name };
}

async function makeOwner(
  api: ServedApi,
  pg: Pool,
  { ownerKind, name }: Pick<TabledCaller, "ownerKind"> & { name: string },
): Promise<Named> {
  if (ownerKind === "user") return makeAccount(api, pg, name);
  const founder = await accountNamed(pg, MATES.owner);
  const organization = { name, description: "Tools", billingEmail: "pay@example.org" };
  const { id } = await insertOrganization(pg, { organization, creatorId: founder.id });
  await joinOrganization(pg, { organization: name, username: MATES.otherOwner, role: "owner" });
  await joinOrganization(pg, { organization: name, username: MATES.member, role: "member" });
  return { id, name };
}

/** The things that parameters of paths name, made where there is none yet. */
export const PARAMETERS: Readonly<Record<string, (place: Place) => string | Promise<string>>> = {
  organization: ({ owner }) => owner.name,
  owner: ({ owner }) => owner.name,
  username: () => MATES.member,
  package: ({ packageId }) => packageId,
  pixel: ({ pg, owner }) => insertPixel(pg, { ownerId: owner.id, pixel: { name: "Handbook" } }),
  import: (place) => makeImport(place, { of: "any", ended: true }),
  filename: () => "events.csv",
  format: () => "csv",
  webhook: webhookOf,
  async delivery(place) {
    await webhookOf(place);
    const { pg, owner } = place;
    const event = { ownerId: owner.id, type: STAGE_CHANGED, data: { companies: [] }, createdAt: new Date() };
    const eventId = await enqueueWebhookEvent(pg, event);
    const text = "update webhook_deliveries set state = 'delivered' where event_id = $1 returning id";
    return (await pg.query<{ id: string }>(text, [eventId])).rows[0]?.id ?? "";
  },
  company: makeCompany,
  breakdown: () => "country",
  annotation: async ({ pg, owner }) =>
    (await insertAnnotation(pg, { ownerId: owner.id, packageId: null, date: "2026-08-04", text: "One" })) ??
    "",
  source: ({ pg, owner }) =>
    insertSource(pg, { ownerId: owner.id, kind: "npm", name: randomUUID(), packageId: null, enabled: true }),
  notification: (place) => makeNotification(place, { channel: "slack", target: "http://127.0.0.1:59999/" }),
  erasure: ({ pg, owner }) =>
    insertErasure(pg, { ownerId: owner.id, kind: "origin_id", seal: () => Buffer.from("sealed") }),
  async route({ pg, packageId }) {
    const route = { templatePath: "/tools/{version}", outgoingUrl: "" };
    return insertPackageRoute(pg, { packageId, route });
  },
  async domain({ pg, packageId }) {
    return (await insertPackageDomain(pg, { packageId, name: `${randomUUID()}.example.org` })).id;
  },
  async token({ pg, caller }) {
    const tokenHash = Buffer.from(caller.name);
    const token = {
      accountId: caller.id,
      name: "laptop",
      scopes: ["read" as const],
      ownerId: null,
      tokenHash,
    };
    return insertApiToken(pg, token);
  },
};

/** One of a chat, or of a receiver who has not confirmed. */
export async function makeNotification(
  { pg, owner }: Place,
  { channel, target }: { channel: "slack" | "email"; target: string },
): Promise<string> {
  const id = newNotificationId();
  await insertNotification(pg, {
    id,
    ownerId: owner.id,
    event: "webhook-disabled",
    packageId: null,
    thresholdPercent: null,
    channel,
    target: createSealer(SECRET_KEY, "webhook-secret").seal(target, id),
    targetShown: channel === "email" ? target : new URL(target).host,
    mailbox: channel === "email" ? target : null,
    savedBy: null,
    enabled: true,
  });
  return id;
}

const webhooks = new WeakMap<Place, Promise<string>>();

/** One of a place: what is below it must be of the same. */
function webhookOf(place: Place): Promise<string> {
  const made = webhooks.get(place) ?? makeWebhook(place);
  webhooks.set(place, made);
  return made;
}

async function makeWebhook({ pg, owner }: Place): Promise<string> {
  const id = newWebhookId();
  const sealer = createSealer(SECRET_KEY, "webhook-secret");
  const secret = () => sealer.seal(issueWebhookSecret(), id);
  const webhook = { url: "http://127.0.0.1:59999/", event_kinds: [STAGE_CHANGED] };
  await insertWebhook(pg, { ownerId: owner.id, id, secret: secret(), webhook });
  // So that there is an old one.
  await updateWebhookSecret(pg, { id, secret: secret() });
  return id;
}

const STAGE_CHANGED = "company-funnel-stage-changed" as const;

async function makeCompany({ pg, owner }: Place): Promise<string> {
  const domain = `${randomUUID()}.example.org`;
  await pg.query(
    `insert into funnel_companies (owner_id, domain, name, engaged, score, downloads, views)
     values ($1, $2, 'Acme', false, 0, 0, 0)`,
    [owner.id, domain],
  );
  return domain;
}

/** An import of another account, whose place here is the owner's or the package's alone. */
export async function makeImport(
  { pg, owner, packageId }: Place,
  { of, ended }: { of: "any" | "package"; ended: boolean },
): Promise<string> {
  const { id: accountId } = await accountNamed(pg, MATES.owner);
  const artifact = { artifactKind: of, artifactId: of === "package" ? packageId : "" };
  const { id } = await insertImport(pg, { ownerId: owner.id, accountId, ...artifact });
  if (ended) await abortImport(pg, { ownerId: owner.id, id }, { retract: false });
  return id;
}
