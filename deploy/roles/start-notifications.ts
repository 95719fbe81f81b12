import type { Logger } from "pino";
import { createSealer } from "../../api/base/identity/tokens.js";
import type { Route, PublicRoute } from "../../api/base/http/route.js";
import { confirmationRoutes } from "../../api/features/notifications/confirmation-routes.js";
import { MailRefused } from "../../api/features/notifications/mail.js";
import { notificationRoutes } from "../../api/features/notifications/notification-routes.js";
import { planMessages } from "../../api/features/notifications/plan-messages.js";
import { notificationSendRoutes } from "../../api/features/notifications/send-routes.js";
import { startNotifications } from "../../api/features/notifications/start-notifications.js";
import { type MailPageDeps, mailPageRoutes } from "../../api/features/notifications/mail-page-routes.js";
import { createGuard } from "../../api/base/outbound/guard-address.js";
import type { Config } from "../config/config.js";
import type { ScheduledJob } from "../schedule/start-schedule.js";
import { createMailer } from "../stores/create-mailer.js";
import type { Stores } from "../stores/open-stores.js";
import { linkBase } from "./link-base.js";

interface NotificationParts {
  config: Config;
  log: Logger;
  stores: Stores;
  secretKey: Buffer;
}

/** Sends the messages that wait until disposed of. `apiUrl`: where this process listens, if it has the role `api`. */
export function startNotificationSending(
  { config, log, stores, secretKey }: NotificationParts,
  apiUrl: string | undefined,
): AsyncDisposable {
  return startNotifications({
    ...sendingDeps({ config, secretKey, log }),
    linkBase: () => linkBase(config, apiUrl),
    pg: stores.pg,
    onSent(outcome) {
      if (outcome.state === "sent") log.debug(outcome, "sent a notification");
      else if (outcome.state === "cancelled") log.debug(outcome, "cancelled a notification");
      else if (outcome.state === "waiting") log.info(outcome, "a notification is waiting");
      else log.warn(outcome, "could not send a notification");
    },
    onFailure: (error) => log.warn({ err: error }, "sending notifications failed; retrying"),
  });
}

/** Finds what is to be told. */
export function notificationJob({ log, stores: { pg, shards } }: NotificationParts): ScheduledJob {
  return {
    name: "notifications",
    schedule: "*/5 * * * *",
    catchesUp: true,
    run: async (_, signal) => ({
      planned: await planMessages({
        pg,
        clickhouse: shards.all,
        signal,
        onFailure: (err, { notificationId, event }) =>
          log.warn({ err, notification: notificationId, event }, "a notification is waiting for its data"),
      }),
    }),
  };
}

/** The API routes of notifications. `apiUrl` is called once the API listens. */
export function notificationApi(
  { config, stores, secretKey, log }: NotificationParts,
  apiUrl: () => string | undefined,
): Route[] {
  const { requests: pg, requestShards } = stores;
  const deps = { ...sendingDeps({ config, secretKey, log }), pg, linkBase: () => linkBase(config, apiUrl()) };
  return [
    ...notificationRoutes({ ...deps, quotas: config.quotas }),
    ...confirmationRoutes(deps),
    ...notificationSendRoutes({ ...deps, clickhouse: requestShards.all }),
  ];
}

/** The pages that links in mails lead to. */
export function mailPageApi(
  { stores, secretKey }: NotificationParts,
  limit: MailPageDeps["limit"],
): PublicRoute[] {
  return mailPageRoutes({ pg: stores.requests, sealer: createSealer(secretKey, TARGET_KIND), limit });
}

function sendingDeps({ config, secretKey, log }: Pick<NotificationParts, "config" | "secretKey" | "log">) {
  return {
    onMailFailure: (error: unknown) => logMailFailure(log, error),
    guard: createGuard(config.webhooks),
    sealer: createSealer(secretKey, TARGET_KIND),
    sendMail: config.mail && createMailer(config.mail),
  };
}

/** Servers repeat the receiver's address in their answers, which is nobody's business who reads the log. */
function logMailFailure(log: Logger, error: unknown): void {
  const sentence = "could not send an email";
  if (!(error instanceof MailRefused)) return log.warn({ err: error }, sentence);
  const reason = error.message.replace(/[^\s<>:]+@[^\s<>:]+/g, "(address)");
  log.warn({ reason, isFinal: error.isFinal }, sentence);
}

const TARGET_KIND = "notification-target";
