import {
  type NotificationChannel,
  type NotificationCreate,
  type NotificationRecord,
  type NotificationUpdate,
} from "../../../schemas/contracts/notification.js";
import {
  type NotificationEvent,
  defaultThreshold,
  isOfOwner,
} from "../../../schemas/contracts/notification-event.js";
import { FORMATS } from "../../../schemas/formats.js";
import { isMailbox, mailboxKey, parseMailbox } from "../../../schemas/mailbox.js";
import { Problem } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import type { Account } from "../../base/access/access.js";
import type { Owner } from "../../base/access/authorise.js";
import type { OwnerAction } from "../../base/access/resources.js";
import { ownedPackageId } from "../../base/access/owned-package.js";
import { changedMeanwhile } from "../../base/http/answers/headers.js";
import type { Call } from "../../base/http/route.js";
import type { Sealer } from "../../base/identity/tokens.js";
import { requireAllowedUrl } from "../../base/outbound/require-allowed-url.js";
import type { Postgres } from "../../base/postgres/query.js";
import { enqueueConfirmation } from "./agreements.js";
import { NO_MAIL } from "./mail.js";
import { cancelMessages } from "./messages.js";
import {
  type NotificationDeps,
  type NotificationFields,
  type StoredNotification,
  insertNotification,
  newNotificationId,
  readStoredNotification,
  updateNotification,
} from "./notifications.js";

type Managing = Call<OwnerAction>;
type OwnerOf = Pick<Owner, "id" | "name">;

interface Creating {
  call: Managing;
  owner: OwnerOf;
  sent: NotificationCreate;
  sealer: Sealer;
}

/** Returns the id. */
export async function insertSent(client: Postgres, { call, owner, sent, sealer }: Creating): Promise<string> {
  const { event, channel, target, enabled = true } = sent;
  const { account } = call;
  const id = newNotificationId();
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
  return id;
}

interface Prepared {
  /** With the address alone of a mailbox. */
  sent: NotificationUpdate;
  known: NotificationRecord;
}

export async function prepareChange(
  deps: NotificationDeps,
  { sent: body, known }: Prepared,
): Promise<Prepared> {
  const channel = body.channel ?? known.channel;
  const sent = withAddress(body, channel);
  if (sent.target !== undefined) await requireTarget(deps, { channel, target: sent.target });
  else if (channel !== known.channel)
    throw invalidBody([{ path: "/target", message: "is required if the channel changes" }]);
  return { sent, known };
}

interface Applying {
  call: Managing;
  owner: OwnerOf;
  before: NotificationRecord;
  prepared: Prepared;
  sealer: Sealer;
}

export async function applyChange(
  client: Postgres,
  { call, owner, before, prepared: { sent, known }, sealer }: Applying,
): Promise<object> {
  const { account } = call;
  // The target was checked for the channel that the notification had when it was read first.
  if (before.channel !== known.channel) throw changedMeanwhile();
  const stored = await readStoredNotification(client, before.id);
  if (stored === undefined) throw new Problem("not-found", "The notification has been deleted.");
  const fields = await changedTo(client, { call, owner, stored, sent });
  const { target } = sent;
  const targeted = target !== undefined && {
    target: sealer.seal(target, before.id),
    targetShown: shownOf(fields.channel, target),
    mailbox: mailboxOf(fields.channel, target),
  };
  const changed = { ...fields, ...targeted, savedBy: account.id };
  const startsAnew = changed.enabled && (!stored.enabled || tellsOtherwise(stored, changed));
  await updateNotification(client, { ...changed, id: before.id, startsAnew });
  // What waits is of another notification then.
  if (!changed.enabled || startsAnew) await cancelMessages(client, before.id);
  await ask(client, { account, notification: { ...stored, ...changed } });
  // Another URL of the same host looks the same.
  return targeted ? { target: targeted.targetShown } : {};
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
  owner: OwnerOf;
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
  owner: OwnerOf;
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

function requirePackageAllowed(event: NotificationEvent, packageId: string | null): string | null {
  if (!isOfOwner(event) || packageId === null) return packageId;
  throw invalidBody([{ path: "/package", message: `does not apply to ${event}` }]);
}

function thresholdOf(event: NotificationEvent, sent: number | null | undefined): number | null {
  const standard = defaultThreshold(event);
  if (sent === undefined || sent === null) return standard;
  if (standard === null)
    throw invalidBody([{ path: "/threshold_percent", message: `does not apply to ${event}` }]);
  return sent;
}

/** Of a mailbox the address alone is kept: the same receiver has one target, whatever name stands before it. */
export function withAddress<Sent extends NotificationUpdate>(sent: Sent, channel = sent.channel): Sent {
  const address = channel === "email" ? parseMailbox(sent.target ?? "")?.address : undefined;
  return address === undefined ? sent : { ...sent, target: address };
}

export async function requireTarget(
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
