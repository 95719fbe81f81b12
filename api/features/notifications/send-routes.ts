import { RateLimiterMemory } from "rate-limiter-flexible";
import { v7 as uuidv7 } from "uuid";
import type { ClickHouse } from "../../../schemas/shards.js";
import { NOTIFICATION_PREVIEW, NOTIFICATION_SENT } from "../../../schemas/contracts/notification.js";
import { isPeriodEvent } from "../../../schemas/contracts/notification-event.js";
import { Problem } from "../../../schemas/problem.js";
import { limitWork, type RunLimited } from "../../base/http/limit-work.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import { requireFew } from "../../base/identity/failure-limits.js";
import { periodKind } from "./events/events.js";
import { exampleOf } from "./failures.js";
import { admitMail, unwantedSentence } from "./admit-mail.js";
import { SENDS_BY_HAND_MAX } from "./mail-limits.js";
import type { AnyData } from "./messages.js";
import {
  type LinkBase,
  type NotificationDeps,
  type StoredNotification,
  notificationFor,
  notificationTarget,
  putSentByHand,
  readStoredNotification,
} from "./notifications.js";
import { lastPeriod } from "./periods.js";
import { type PeriodReading, readPeriod } from "./read-period.js";
import { type Sending, previewMessage, sendMessage } from "./send-message.js";

const PATH = "/v2/:owner/notifications/:notification";
const ABOUT =
  "Uses the last complete period, even if no message would be sent for it. Notifications about failures " +
  "use example data.";

interface SendRoutesDeps extends NotificationDeps {
  clickhouse: ClickHouse;
  linkBase: LinkBase;
}

type Managing = Call<"notifications.manage">;

export function notificationSendRoutes(deps: SendRoutesDeps): Route[] {
  const sends = new RateLimiterMemory({ points: SENDS_BY_HAND_MAX, duration: 60 });
  const runLimited = limitWork({
    atOnce: { perKey: 2, inAll: 4 },
    remedy: "Try again in a moment.",
  });
  return [
    route({
      method: "GET",
      path: `${PATH}/preview`,
      action: "notifications.manage",
      operation: {
        id: "previewNotification",
        summary: "Preview a notification's message",
        description: ABOUT,
        answers: {
          200: {
            description: "The message",
            schema: NOTIFICATION_PREVIEW,
            example: {
              subject: 'Maintainer Toolchain: "acme": 5,259 downloads, 3 – 9 Aug 2026',
              text: '"acme" had 5,259 downloads ...\n',
            },
          },
        },
      },
      async handle(call) {
        const { stored } = await storedFor(deps, call);
        call.ctx.body = previewMessage(await sendingOf(deps, { call, stored, runLimited }), deps);
      },
    }),
    route({
      method: "POST",
      path: `${PATH}/send`,
      action: "notifications.manage",
      operation: {
        id: "sendNotification",
        summary: "Send a notification's message now",
        description:
          `${ABOUT} Works for disabled notifications too, and does not replace a scheduled message. ` +
          "Emails are sent only to receivers who are `confirmed`. An account can send " +
          `${SENDS_BY_HAND_MAX} messages a minute; emails also count towards the email limits.`,
        answers: {
          200: {
            description: "Whether the message was sent",
            schema: NOTIFICATION_SENT,
            example: { success: true },
          },
        },
      },
      async handle(call) {
        const { ownerId, stored, notification } = await storedFor(deps, call);
        await requireFew(
          sends,
          call.account.id,
          `You sent ${SENDS_BY_HAND_MAX} messages in the last minute. Try again later.`,
        );
        const sending = await sendingOf(deps, { call, stored, runLimited });
        const error = await whyUnwanted(deps, { call, sending });
        if (error !== undefined) {
          call.ctx.body = { success: false, error };
          return;
        }
        const target = notificationTarget(notification);
        await call.record(deps.pg, { ownerId, target, changes: { sent: true }, isRepeatable: true });
        const sent = await sendMessage(sending, deps);
        await putSentByHand(deps.pg, stored.id, sent.isSent ? null : sent.error);
        call.ctx.body = sent.isSent ? { success: true } : { success: false, error: sent.error };
      },
    }),
  ];
}

/** Throws `rate-limited` where a mail has to wait: who sends by hand is there to try again. */
async function whyUnwanted(
  { pg }: SendRoutesDeps,
  { call, sending: { id: messageId, notification } }: { call: Managing; sending: Sending },
): Promise<string | undefined> {
  const { ownerId, mailbox, targetShown } = notification;
  if (mailbox === null) return undefined;
  const accountId = call.account.id;
  const admission = await admitMail(pg, { ownerId, mailbox, messageId, kind: "by-hand", accountId });
  if (admission.is === "limited")
    throw new Problem("rate-limited", `${admission.sentence} Try again later.`, {
      retryAfterSeconds: admission.seconds,
    });
  return admission.is === "unwanted" ? unwantedSentence(targetShown, admission.state) : undefined;
}

async function storedFor({ pg }: SendRoutesDeps, call: Managing) {
  const { owner, notification } = await notificationFor(pg, call);
  const stored = await readStoredNotification(pg, notification.id);
  if (stored === undefined) throw new Problem("not-found", "The notification has been deleted.");
  return { ownerId: owner.id, notification, stored };
}

interface Wanted {
  call: Managing;
  stored: StoredNotification;
  runLimited: RunLimited;
}

async function sendingOf(
  { pg, clickhouse }: SendRoutesDeps,
  { call: { ctx, account }, stored, runLimited }: Wanted,
): Promise<Sending> {
  const createdAt = new Date();
  const read = (signal: AbortSignal) => readLast({ pg, clickhouse, signal }, stored, createdAt);
  const data = await runLimited(ctx, { caller: account.id }, read);
  return { id: uuidv7(), createdAt, data, notification: stored };
}

async function readLast(reading: PeriodReading, rule: StoredNotification, now: Date): Promise<AnyData> {
  const { event } = rule;
  return isPeriodEvent(event)
    ? readPeriod(reading, { ...rule, event }, lastPeriod(periodKind(event).unit, now))
    : exampleOf(event, rule);
}
