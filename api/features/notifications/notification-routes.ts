import {
  NOTIFICATION,
  NOTIFICATION_CREATE,
  NOTIFICATION_UPDATE,
  type NotificationRecord,
  parseNotificationCreate,
  parseNotificationUpdate,
} from "../../../schemas/contracts/notification.js";
import { wholeOwnerFor } from "../../base/access/authorise.js";
import { DEFAULT_QUOTAS, type Quotas } from "../../base/access/quotas.js";
import { type Resource, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute, getRoute, updateRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { PACKAGE_PROBLEMS } from "../packages/packages.js";
import { applyChange, insertSent, prepareChange, requireTarget, withAddress } from "./change-notification.js";
import {
  type NotificationDeps,
  countNotifications,
  deleteNotification,
  findNotification,
  listNotifications,
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
const NOT_FOR_THE_BLOCKED =
  "Notifications cover all packages of the owner. If you are blocked from any of the packages, you get 403.";

interface QuotedDeps extends NotificationDeps {
  /** Disabled notifications count. */
  quotas?: Quotas;
}

export function notificationRoutes({ quotas = DEFAULT_QUOTAS, ...deps }: QuotedDeps): Route[] {
  const resource = {
    pg: deps.pg,
    name: "notification",
    plural: "notifications",
    path: "/v2/:owner/notifications",
    actions: {
      read: "notifications.manage",
      create: "notifications.manage",
      update: "notifications.manage",
      delete: "notifications.manage",
    },
    schema: NOTIFICATION,
    example: EXAMPLE,
    admit: toOwner(wholeOwnerFor),
    list: listNotifications,
    find: findNotification,
    recordOf: (notification) => notification,
    targetOf: notificationTarget,
  } as const satisfies Resource<NotificationRecord>;
  const problems = ["email-not-configured", "webhook-url-not-allowed", ...PACKAGE_PROBLEMS] as const;
  return [
    listRoute(resource, { description: NOT_FOR_THE_BLOCKED }),
    createRoute(resource, {
      description:
        "The notification covers periods that end after it was created. Emails are sent only to receivers who " +
        "are `confirmed`; people who are not members first get an email that asks them to confirm. An owner can have " +
        `${quotas.notifications} notifications. ${NOT_FOR_THE_BLOCKED}`,
      body: { schema: NOTIFICATION_CREATE, example: SENT },
      parse: (body) => withAddress(parseNotificationCreate(body)),
      problems,
      quotas,
      count: countNotifications,
      prepare: (_, sent) => requireTarget(deps, sent),
      insert: (client, creating) => insertSent(client, { ...creating, sealer: deps.sealer }),
      changesOf: (sent, { target }) => ({ ...sent, target }),
    }),
    getRoute(resource),
    updateRoute(resource, {
      description:
        "Omitted fields stay as they are; a new channel requires a target. Disabling a notification " +
        "also cancels its pending messages. After you enable it again, it covers new periods and " +
        "events only.",
      body: { schema: NOTIFICATION_UPDATE, example: { enabled: false } },
      parse: parseNotificationUpdate,
      problems,
      example: { ...EXAMPLE, enabled: false },
      prepare: (_, sent, { row }) => prepareChange(deps, { sent, known: row }),
      apply: (client, changing) => applyChange(client, { ...changing, sealer: deps.sealer }),
    }),
    deleteRoute(resource, { delete: (client, { id }) => deleteNotification(client, id) }),
  ];
}
