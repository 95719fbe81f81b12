import type { Pool } from "pg";
import { passFaultPoint } from "../../schemas/fault-point.js";
import type { ClaimLimits } from "../outbox/claim-items.js";
import { startOutbox } from "../outbox/start-outbox.js";
import {
  type Attempted,
  type ClaimedMessage,
  MESSAGES,
  type MessageOutcome,
  recordAttempts,
} from "./message-claims.js";
import { type SendDeps, type Sent, sendMessage } from "./send-message.js";

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
  const { id, corrects, createdAt, data, attempts, targetId } = message;
  passFaultPoint("notification-before-send");
  const sending = { id, corrects, createdAt, data, notification: { ...message, id: targetId } };
  const sent = await sendMessage(sending, worker).catch((error: unknown): Sent => {
    worker.onFailure(error);
    return { isSent: false, isFinal: false, error: "The message could not be made." };
  });
  if (sent.isSent) passFaultPoint("notification-after-send");
  return { message, attempted: outcomeOf(sent, attempts) };
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
