import type { Pool } from "pg";
import { passFaultPoint } from "../../../schemas/fault-point.js";
import { isDigest } from "../../../schemas/contracts/notification-event.js";
import type { ClaimLimits } from "../../base/outbox/claim-items.js";
import { startOutbox } from "../../base/outbox/start-outbox.js";
import {
  type AnyData,
  type Attempted,
  type ClaimedMessage,
  MESSAGES,
  type MessageOutcome,
  recordAttempts,
} from "./messages.js";
import { AGREEMENT, type AgreementData, type Receiver, deleteAsked } from "./agreements.js";
import { type Admission, admitMail } from "./admit-mail.js";
import { NO_LINKS } from "./mail.js";
import { WAITING_HOURS_MAX } from "./mail-limits.js";
import { type SendDeps, type Sent, sendConfirmation, sendMessage } from "./send-message.js";

export interface NotificationsWorker extends SendDeps {
  pg: Pool;
  onSent?: (outcome: Attempted & { id: string; notificationId: string }) => void;
  /** Called for a fault of the worker itself, never of a receiver. The worker continues. */
  onFailure: (error: unknown) => void;
  everyMs?: number;
}

/**
 * Few, because all mails go to one server, which may take only so many connections. Those of one notification and one
 * owner apply to all processes together.
 */
export const NOTIFICATION_LIMITS: ClaimLimits = { slots: 32, failingSlots: 8, perTarget: 2, perOwner: 8 };

/** An attempt that takes longer, such as by a slow mail server, renews it. */
const LEASE_MS = 60_000;

/**
 * Sends the messages that wait until disposed of. Where a process dies between sending and recording it, the message is
 * sent again with the same id.
 */
export function startNotifications(worker: NotificationsWorker): AsyncDisposable {
  const { pg, onSent, onFailure, everyMs } = worker;
  return startOutbox<ClaimedMessage, MessageOutcome>({
    pg,
    queue: MESSAGES,
    limits: NOTIFICATION_LIMITS,
    leaseMs: LEASE_MS,
    attempt: (message) => attempt(worker, message),
    async record(outcomes) {
      await recordAttempts(pg, outcomes);
      passFaultPoint("notification-after-record");
      for (const { message, attempted } of outcomes)
        onSent?.({ ...attempted, id: message.id, notificationId: message.targetId });
    },
    onFailure,
    pollMs: everyMs,
  });
}

async function attempt(worker: NotificationsWorker, message: ClaimedMessage): Promise<MessageOutcome> {
  passFaultPoint("notification-before-send");
  const attempted = await send(worker, message).catch((error: unknown) => {
    worker.onFailure(error);
    return outcomeOf(
      { isSent: false, isFinal: false, error: "The message could not be created." },
      message.attempts,
    );
  });
  if (attempted.state === "sent") passFaultPoint("notification-after-send");
  return { message, attempted };
}

async function send(worker: NotificationsWorker, message: ClaimedMessage): Promise<Attempted> {
  const { id, corrects, createdAt, plannedAt, attempts, targetId } = message;
  const notification = { ...message, id: targetId };
  if (message.told === AGREEMENT) return ask(worker, message);
  if (message.mailbox !== null) {
    const kind = isDigest(message.event) ? "digest" : "alert";
    const admission = await admitMail(worker.pg, {
      ...receiverOf(message),
      messageId: id,
      kind,
      accountId: message.savedBy,
    });
    if (admission.is !== "admitted") return notAdmitted(admission, plannedAt);
  }
  const data = message.data as AnyData;
  return outcomeOf(await sendMessage({ id, corrects, createdAt, data, notification }, worker), attempts);
}

/** Sends a confirmation mail. Without an address for its link it waits. */
async function ask(worker: NotificationsWorker, message: ClaimedMessage): Promise<Attempted> {
  const { id, createdAt, plannedAt, attempts, targetId } = message;
  const { account_id: accountId, asker } = message.data as AgreementData;
  const base = worker.linkBase();
  if (base === undefined) return waitOrFail({ error: NO_LINKS, delayMs: 10 * MINUTE_MS, plannedAt });
  const mail = { ...receiverOf(message), messageId: id, kind: "confirmation", accountId, asker } as const;
  const admission = await admitMail(worker.pg, mail);
  if (admission.is !== "admitted") return notAdmitted(admission, plannedAt);
  const { agreementId = "" } = admission;
  const asking = { id, createdAt, notification: { ...message, id: targetId }, agreementId, asker, base };
  const sent = await sendConfirmation(asking, worker);
  if (!sent.isSent) await deleteAsked(worker.pg, { id: agreementId, messageId: id });
  return outcomeOf(sent, attempts);
}

function receiverOf({ ownerId, mailbox }: ClaimedMessage): Receiver {
  return { ownerId, mailbox: mailbox ?? "" };
}

function notAdmitted(admission: Exclude<Admission, { is: "admitted" }>, plannedAt: Date): Attempted {
  if (admission.is === "unwanted") return { state: "cancelled" };
  const { seconds, sentence } = admission;
  return waitOrFail({ error: sentence, delayMs: seconds * 1000, plannedAt });
}

const HOUR_MS = 60 * 60_000;

interface Waiting {
  error: string;
  delayMs: number;
  plannedAt: Date;
}

function waitOrFail({ error, delayMs, plannedAt }: Waiting): Attempted {
  if (Date.now() - plannedAt.getTime() > WAITING_HOURS_MAX * HOUR_MS) return { state: "failed", error };
  return { state: "waiting", error, delayMs };
}

const MINUTE_MS = 60_000;
/** From a failed attempt to the next: about a day in all. */
const DELAYS_MS = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * MINUTE_MS);

export function outcomeOf(sent: Sent, attempts: number): Attempted {
  if (sent.isSent) return { state: "sent" };
  const delayMs = DELAYS_MS[attempts];
  if (sent.isFinal || delayMs === undefined) return { state: "failed", error: sent.error };
  return { state: "pending", error: sent.error, delayMs };
}
