import { startRepeating } from "../../schemas/async/pause.js";
import { passFaultPoint } from "../../schemas/fault-point.js";
import type { Postgres } from "../postgres/query.js";
import { type Attempted, type ClaimedMessage, claimMessages, putAttempt } from "./message-claims.js";
import { type SendDeps, type Sent, sendMessage } from "./send-message.js";

export interface NotificationsWorker extends SendDeps {
  pg: Postgres;
  onSent?: (outcome: Attempted & { id: string; notificationId: string }) => void;
  /** Called for a fault of the worker itself, never of a receiver. The worker continues. */
  onFailure: (error: unknown) => void;
  everyMs?: number;
}

const AT_ONCE = 8;

/**
 * Sends the messages that wait until disposed of. Any number of processes may do so: one at a time has a message. Where a
 * process dies between sending and recording it, the message is sent again with the same id.
 */
export function startNotifications(worker: NotificationsWorker): AsyncDisposable {
  const { pg, onFailure, everyMs } = worker;
  return startRepeating(
    async (signal) => {
      for (;;) {
        if (signal.aborted) return;
        const claimed = await claimMessages(pg, AT_ONCE);
        await Promise.all(claimed.map((message) => attempt(worker, message)));
        if (claimed.length < AT_ONCE) return;
      }
    },
    { onFailure, everyMs },
  );
}

async function attempt(worker: NotificationsWorker, message: ClaimedMessage): Promise<void> {
  passFaultPoint("notification-before-send");
  const sent = await sendMessage(message, worker).catch((error: unknown): Sent => {
    worker.onFailure(error);
    return { isSent: false, isFinal: false, error: "The message could not be made." };
  });
  if (sent.isSent) passFaultPoint("notification-after-send");
  const attempted = outcomeOf(sent, message.attempts);
  await putAttempt(worker.pg, message, attempted);
  passFaultPoint("notification-after-record");
  worker.onSent?.({ ...attempted, id: message.id, notificationId: message.notification.id });
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
