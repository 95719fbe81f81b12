import {
  type NotificationChannel,
  type NotificationRecord,
  type NotificationUpdate,
  THRESHOLDS,
  parseNotificationCreate,
  parseNotificationUpdate,
} from "../../schemas/contracts/notification.js";
import type { NotificationEvent } from "../../schemas/contracts/notification-data.js";
import { FORMATS } from "../../schemas/formats.js";
import { isMailbox, mailboxKey, parseMailbox } from "../../schemas/mailbox.js";
import { Problem } from "../../schemas/problem.js";
import { invalidBody } from "../../schemas/invalid-body.js";
import type { Account } from "../access/access.js";
import { changedFields } from "../access/audit-entries.js";
import { type Owner, wholeOwnerFor } from "../access/authorise.js";
import { ownedPackageId } from "../access/owned-package.js";
import { lockOwner } from "../access/owners.js";
import { type Quotas, requireRoom } from "../access/quotas.js";
import { changedMeanwhile, entityTag, requireMatch } from "../http/answers/headers.js";
import { readJson } from "../http/middleware/read-json.js";
import type { Call } from "../http/route.js";
import { requireAllowedUrl } from "../outbound/require-allowed-url.js";
import { inTransaction } from "../postgres/connection.js";
import type { Postgres } from "../postgres/query.js";
import { enqueueConfirmation } from "./agreements.js";
import { NO_MAIL } from "./mail.js";
import { cancelMessages } from "./messages.js";
import {
  type NotificationDeps,
  type NotificationFields,
  type StoredNotification,
  countNotifications,
  insertNotification,
  newNotificationId,
  notificationFor,
  notificationTarget,
  readStoredNotification,
  updateNotification,
} from "./notifications.js";

type Managing = Call<"notifications.manage">;
type Deps = NotificationDeps & { quotas: Quotas };

export async function createNotification(deps: Deps, call: Managing): Promise<NotificationRecord> {
  const { pg, sealer, quotas } = deps;
  const { ctx, account, action, param, record } = call;
  const sent = withAddress(await readJson(ctx, parseNotificationCreate));
  // Checked before any name is looked up: only callers who may create one can cause a lookup.
  await wholeOwnerFor(pg, account, param("owner"), action);
  await requireTarget(deps, sent);
  const id = newNotificationId();
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await wholeOwnerFor(client, account, param("owner"), action);
    requireRoom(quotas, "notifications", {
      name: owner.name,
      count: await countNotifications(client, owner.id),
    });
    const { event, channel, target, enabled = true } = sent;
    await insertNotification(client, {
      id,
      ownerId: owner.id,
      event,
      packageId: await packageIdOf(client, { call, owner, event, idOrName: sent.package }),
      thresholdPercent: thresholdOf(event, sent.threshold_percent),
      channel,
      target: sealer.seal(target, id),
      targetShown: shownOf(channel, target),
      mailbox: mailboxOf(channel, target),
      savedBy: account.id,
      enabled,
    });
    await ask(client, { account, notification: await readStoredNotification(client, id) });
    const of = (parameter: string) => (parameter === "notification" ? id : owner.name);
    const { notification } = await notificationFor(client, { account, action, param: of });
    const changes = { ...sent, target: notification.target };
    await record(client, { ownerId: owner.id, target: notificationTarget(notification), changes });
    return notification;
  });
}

export async function changeNotification(
  deps: NotificationDeps,
  call: Managing,
): Promise<NotificationRecord> {
  const { pg, sealer } = deps;
  const { ctx, account, param, record } = call;
  const body = await readJson(ctx, parseNotificationUpdate);
  const { notification: known } = await notificationFor(pg, call);
  const channel = body.channel ?? known.channel;
  const sent = withAddress(body, channel);
  if (sent.target !== undefined) await requireTarget(deps, { channel, target: sent.target });
  else if (channel !== known.channel)
    throw invalidBody([{ path: "/target", message: "is required if you change the channel" }]);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { owner, notification: before } = await notificationFor(client, call);
    requireMatch(ctx, entityTag(before));
    // The target was checked for the channel that the notification had when it was read first.
    if (before.channel !== known.channel) throw changedMeanwhile();
    const stored = await readStoredNotification(client, before.id);
    if (stored === undefined) throw new Problem("not-found", "The notification has been deleted.");
    const fields = await changedTo(client, { call, owner, stored, sent });
    const { target } = sent;
    const targeted = target !== undefined && {
      target: sealer.seal(target, before.id),
      targetShown: shownOf(channel, target),
      mailbox: mailboxOf(channel, target),
    };
    const changed = { ...fields, ...targeted, savedBy: account.id };
    const isAnother = tellsOtherwise(stored, changed);
    const startsAnew = changed.enabled && (!stored.enabled || isAnother);
    await updateNotification(client, { ...changed, id: before.id, startsAnew });
    // What waits is of another notification then.
    if (!changed.enabled || startsAnew) await cancelMessages(client, before.id);
    await ask(client, { account, notification: { ...stored, ...changed } });
    const { notification: after } = await notificationFor(client, call);
    // Another URL of the same host looks the same.
    const changes = { ...changedFields(before, after), ...(targeted && { target: after.target }) };
    await record(client, { ownerId: owner.id, target: notificationTarget(after), changes });
    return after;
  });
}

const TELLING = ["event", "packageId", "thresholdPercent", "channel"] as const;

/** Whether it tells of something else, or somebody else. A target that was sent anew is sealed anew. */
function tellsOtherwise(before: NotificationFields, after: NotificationFields): boolean {
  const isSameAddress = after.channel === "email" && after.targetShown === before.targetShown;
  if (after.target !== before.target && !isSameAddress) return true;
  return TELLING.some((field) => before[field] !== after[field]);
}

interface Changing {
  call: Managing;
  owner: Owner;
  stored: NotificationFields;
  sent: NotificationUpdate;
}

async function changedTo(
  client: Postgres,
  { call, owner, stored, sent }: Changing,
): Promise<NotificationFields> {
  const event = sent.event ?? stored.event;
  const threshold = sent.threshold_percent === undefined ? stored.thresholdPercent : sent.threshold_percent;
  return {
    ...stored,
    event,
    packageId:
      sent.package === undefined
        ? requirePackageAllowed(event, stored.packageId)
        : await packageIdOf(client, { call, owner, event, idOrName: sent.package }),
    thresholdPercent: thresholdOf(event, sent.event === undefined ? threshold : sent.threshold_percent),
    channel: sent.channel ?? stored.channel,
    enabled: sent.enabled ?? stored.enabled,
  };
}

interface PackageOf {
  call: Managing;
  owner: Owner;
  event: NotificationEvent;
  idOrName: string | null | undefined;
}

async function packageIdOf(
  pg: Postgres,
  { call: { account }, owner, event, idOrName }: PackageOf,
): Promise<string | null> {
  if (idOrName === undefined || idOrName === null) return null;
  requirePackageAllowed(event, idOrName);
  return ownedPackageId(pg, { account, ownerId: owner.id, owner: owner.name, idOrName, field: "package" });
}

/** A webhook tells of all packages. */
function requirePackageAllowed(event: NotificationEvent, packageId: string | null): string | null {
  if (event !== "webhook-disabled" || packageId === null) return packageId;
  throw invalidBody([{ path: "/package", message: `is not a field of ${event}` }]);
}

function thresholdOf(event: NotificationEvent, sent: number | null | undefined): number | null {
  const standard = THRESHOLDS[event] ?? null;
  if (sent === undefined || sent === null) return standard;
  if (standard === null)
    throw invalidBody([{ path: "/threshold_percent", message: `is not a field of ${event}` }]);
  return sent;
}

/** Of a mailbox the address alone is kept: the same receiver has one target, whatever name stands before it. */
function withAddress<Sent extends NotificationUpdate>(sent: Sent, channel = sent.channel): Sent {
  const address = channel === "email" ? parseMailbox(sent.target ?? "")?.address : undefined;
  return address === undefined ? sent : { ...sent, target: address };
}

async function requireTarget(
  { guard, sendMail }: NotificationDeps,
  { channel, target }: { channel: NotificationChannel; target: string },
): Promise<void> {
  if (channel !== "email") return requireAllowedUrl(guard, target);
  if (!isMailbox(target)) throw invalidBody([{ path: "/target", message: FORMATS.mailbox.sentence }]);
  if (sendMail === undefined) throw new Problem("email-not-configured", NO_MAIL);
}

function shownOf(channel: NotificationChannel, target: string): string {
  return channel === "email" ? target : new URL(target).host;
}

function mailboxOf(channel: NotificationChannel, target: string): string | null {
  return channel === "email" ? mailboxKey(target) : null;
}

/** A receiver who has not agreed is asked as soon as there is something to send. */
async function ask(
  client: Postgres,
  { account, notification }: { account: Account; notification: StoredNotification | undefined },
): Promise<void> {
  if (notification === undefined || !notification.enabled || notification.mailbox === null) return;
  const { id: notificationId, ownerId, mailbox } = notification;
  await enqueueConfirmation(client, { ownerId, mailbox }, { notificationId, account });
}
