import {
  NOTIFICATION,
  NOTIFICATION_CREATE,
  NOTIFICATION_UPDATE,
} from "../../schemas/contracts/notification.js";
import { wholeOwnerFor } from "../access/authorise.js";
import { lockOwner } from "../access/owners.js";
import { DEFAULT_QUOTAS, QUOTA_PROBLEMS, type Quotas } from "../access/quotas.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../http/answers/headers.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../http/answers/paging.js";
import { type Route, route } from "../http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { inTransaction } from "../postgres/connection.js";
import { changeNotification, createNotification } from "./change-notification.js";
import {
  type NotificationDeps,
  deleteNotification,
  listNotifications,
  notificationFor,
  notificationTarget,
} from "./notifications.js";

const SENT = { event: "weekly-digest", channel: "email", target: "ada@acme.example" } as const;
export const EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  ...SENT,
  enabled: true,
  confirmed: true,
  stopped: false,
  created_at: "2026-08-04T13:58:26.021037Z",
  updated_at: "2026-08-04T13:58:26.021037Z",
  last_sent_at: "2026-08-10T00:15:02.310026Z",
};
const ANSWER = { description: "The notification", schema: NOTIFICATION, example: EXAMPLE };
const LIST_PATH = "/v2/:owner/notifications";
const PATH = "/v2/:owner/notifications/:notification";
const PROBLEMS = ["email-not-configured", "webhook-url-not-allowed", ...PACKAGE_PROBLEMS] as const;
const NOT_FOR_THE_BLOCKED =
  "Notifications cover all packages of the owner. If you are blocked from any of the packages, you get 403.";

interface QuotedDeps extends NotificationDeps {
  /** Disabled notifications count. */
  quotas?: Quotas;
}

export function notificationRoutes({ quotas = DEFAULT_QUOTAS, ...deps }: QuotedDeps): Route[] {
  const { pg } = deps;
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "notifications.manage",
      operation: {
        id: "listNotifications",
        summary: "List notifications",
        description: NOT_FOR_THE_BLOCKED,
        query: PAGE_QUERY,
        answers: {
          200: pageAnswer({
            name: "notifications",
            record: NOTIFICATION,
            example: EXAMPLE,
            title: "NotificationList",
            description: "Notifications, newest first",
          }),
        },
      },
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
        const { id: ownerId } = await wholeOwnerFor(pg, account, param("owner"), action);
        const rows = await listNotifications(pg, { ownerId, page });
        ctx.body = pageBody(ctx, { name: "notifications", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "notifications.manage",
      operation: {
        id: "createNotification",
        summary: "Create a notification",
        description:
          "Covers periods that end from now on. Mails are sent only to receivers who are `confirmed`; " +
          "addresses of people who are not members first get a mail that asks them to confirm. An owner can have " +
          `${quotas.notifications} notifications. ${NOT_FOR_THE_BLOCKED}`,
        body: { schema: NOTIFICATION_CREATE, example: SENT },
        answers: { 201: ANSWER },
        problems: [...PROBLEMS, QUOTA_PROBLEMS.notifications],
      },
      async handle(call) {
        const made = await createNotification({ ...deps, quotas }, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/${encodeURIComponent(made.owner)}/notifications/${made.id}`);
        answerRecord(call.ctx, made);
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "notifications.manage",
      operation: { id: "getNotification", summary: "Get a notification", answers: { 200: ANSWER } },
      async handle(call) {
        answerRecord(call.ctx, (await notificationFor(pg, call)).notification);
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "notifications.manage",
      operation: {
        id: "updateNotification",
        summary: "Update, disable or enable a notification",
        description:
          "Omitted fields stay as they are; a new channel requires a target. Disabling a notification " +
          "also cancels its waiting messages. After you enable it again, it covers new periods and " +
          "events only.",
        body: { schema: NOTIFICATION_UPDATE, example: { enabled: false } },
        answers: { 200: { ...ANSWER, example: { ...EXAMPLE, enabled: false } } },
        problems: [...PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        answerRecord(call.ctx, await changeNotification(deps, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "notifications.manage",
      operation: {
        id: "deleteNotification",
        summary: "Delete a notification",
        answers: { 204: { description: "Notification deleted" } },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, call.param("owner"));
          const { owner, notification } = await notificationFor(client, call);
          requireMatch(call.ctx, entityTag(notification));
          await deleteNotification(client, notification.id);
          const target = notificationTarget(notification);
          await call.record(client, { ownerId: owner.id, target, changes: { deleted: true } });
        });
        call.ctx.status = 204;
      },
    }),
  ];
}
