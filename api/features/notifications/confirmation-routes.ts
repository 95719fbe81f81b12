import { NOTIFICATION, type NotificationRecord } from "../../../schemas/contracts/notification.js";
import { Problem } from "../../../schemas/problem.js";
import { lockOwner } from "../../base/access/owners.js";
import { formatTime } from "../../web/parts/format.js";
import { answerRecord } from "../../base/http/answers/headers.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import type { Postgres } from "../../base/postgres/query.js";
import { findLimit, unwantedSentence } from "./admit-mail.js";
import {
  type Receiver,
  enqueueConfirmation,
  readReceiverState,
  secondsUntilAskedAgain,
} from "./agreements.js";
import { NO_LINKS, NO_MAIL } from "./mail.js";
import { CONFIRMATION_DAYS } from "./mail-limits.js";
import {
  type LinkBase,
  type NotificationDeps,
  notificationFor,
  notificationTarget,
  readStoredNotification,
} from "./notifications.js";
import { EXAMPLE } from "./notification-routes.js";

interface ConfirmationDeps extends NotificationDeps {
  linkBase: LinkBase;
}

type Managing = Call<"notifications.manage">;

/** Asks a receiver again. */
export function confirmationRoutes(deps: ConfirmationDeps): Route[] {
  return [
    route({
      method: "POST",
      path: "/v2/:owner/notifications/:notification/confirmation",
      action: "notifications.manage",
      operation: {
        id: "sendConfirmation",
        summary: "Resend a notification's confirmation email",
        description:
          "For receivers who have not confirmed their address. An owner can send one such email to an " +
          `address every ${CONFIRMATION_DAYS} days; the email limits apply too. The link in the previous ` +
          "email becomes invalid.",
        answers: {
          200: {
            description: "The notification. Its confirmation email is being sent",
            schema: NOTIFICATION,
            example: { ...EXAMPLE, confirmed: false },
          },
        },
        problems: ["no-confirmation-needed", "email-not-configured"],
      },
      handle: async (call) => answerRecord(call.ctx, await askAgain(deps, call)),
    }),
  ];
}

function askAgain({ pg, ...deps }: ConfirmationDeps, call: Managing): Promise<NotificationRecord> {
  const { account, param, record } = call;
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { owner, notification } = await notificationFor(client, call);
    const stored = await readStoredNotification(client, notification.id);
    if (stored?.enabled !== true) throw needless("The notification is disabled. Enable it first.");
    const { ownerId, mailbox } = stored;
    if (mailbox === null) throw needless("Only email receivers need to confirm their address.");
    if (deps.sendMail === undefined) throw new Problem("email-not-configured", NO_MAIL);
    if (deps.linkBase() === undefined) throw new Problem("email-not-configured", NO_LINKS);
    const receiver = { ownerId, mailbox };
    await requireAwaiting(client, receiver, stored.targetShown);
    await requireRoom(client, receiver, account.id);
    await enqueueConfirmation(client, receiver, { notificationId: notification.id, account });
    const target = notificationTarget(notification);
    await record(client, {
      ownerId: owner.id,
      target,
      changes: { confirmation_sent: true },
      isRepeatable: true,
    });
    return notification;
  });
}

const needless = (sentence: string) => new Problem("no-confirmation-needed", sentence);

async function requireAwaiting(pg: Postgres, receiver: Receiver, address: string): Promise<void> {
  const state = await readReceiverState(pg, receiver);
  if (state === "awaiting") return;
  throw needless(
    state === "stopped" ? unwantedSentence(address, state) : `${address} does not need to be confirmed.`,
  );
}

/** The worker decides in the end: others may ask the same address meanwhile. */
async function requireRoom(pg: Postgres, receiver: Receiver, accountId: string): Promise<void> {
  const seconds = await secondsUntilAskedAgain(pg, receiver);
  const sentence = `An owner can send a confirmation email to the same address only once every ${CONFIRMATION_DAYS} days.`;
  const lately = seconds > 0 ? { seconds, sentence } : undefined;
  const limited = lately ?? (await findLimit(pg, { ...receiver, kind: "confirmation", accountId }));
  if (limited === undefined) return;
  const until = formatTime(new Date(Date.now() + limited.seconds * 1000).toISOString());
  throw new Problem("rate-limited", `${limited.sentence} Try again after ${until}.`, {
    retryAfterSeconds: limited.seconds,
  });
}
