import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, titledObject } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";
import { NOTIFICATION_EVENT_NAMES, defaultThreshold, describeThresholds } from "./notification-event.js";

export const NOTIFICATION_CHANNELS = ["email", "slack", "discord", "mattermost", "teams"] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

export type NotificationCreate = NotificationUpdate &
  Required<Pick<NotificationUpdate, "event" | "channel" | "target">>;

const SENT = {
  event: { type: "string", enum: NOTIFICATION_EVENT_NAMES },
  package: {
    type: ["string", "null"],
    minLength: 1,
    maxLength: 256,
    description: "Id or name of a package of the same owner. All packages if omitted",
  },
  threshold_percent: {
    type: ["number", "null"],
    minimum: 0,
    maximum: 10_000,
    description: describeThresholds((event) => `For \`${event}\``),
  },
  channel: { type: "string", enum: NOTIFICATION_CHANNELS },
  target: {
    type: "string",
    format: "line",
    minLength: 1,
    maxLength: 2048,
    description:
      "An email address, or the URL of an incoming webhook. The URL is a secret; responses contain only its host",
  },
  enabled: { type: "boolean" },
} as const;

export const NOTIFICATION = titledObject(
  "Notification",
  ["id", "owner", "event", "channel", "target", "enabled", "created_at", "updated_at"],
  {
    id: { type: "string", format: "uuid" },
    owner: { type: "string" },
    event: SENT.event,
    package_id: { type: "string", format: "uuid" },
    threshold_percent: { type: "number" },
    channel: SENT.channel,
    target: { type: "string", description: "An email address, or the host of a webhook URL" },
    enabled: { type: "boolean" },
    confirmed: {
      type: "boolean",
      description:
        "For `email`: whether emails are sent. True if the receiver is a member of the owner or has confirmed " +
        "the address, and has not unsubscribed",
    },
    stopped: {
      type: "boolean",
      description: "For `email`: whether the receiver unsubscribed. Only the receiver can undo this",
    },
    created_at: TIMESTAMP,
    updated_at: TIMESTAMP,
    last_sent_at: TIMESTAMP,
    last_error: {
      type: "string",
      description:
        "Error of the last message, including manually sent messages. Absent if there was no error",
    },
  },
);
export type NotificationRecord = FromSchema<typeof NOTIFICATION>;
export const NOTIFICATION_CREATE = titledObject("NotificationCreate", ["event", "channel", "target"], SENT);
export const NOTIFICATION_UPDATE = titledObject("NotificationUpdate", [], SENT);
export type NotificationUpdate = FromSchema<typeof NOTIFICATION_UPDATE>;

export const parseNotificationCreate = compileBody<NotificationCreate>(NOTIFICATION_CREATE, thresholdFaults);
export const parseNotificationUpdate = compileBody<NotificationUpdate>(NOTIFICATION_UPDATE, thresholdFaults);

function thresholdFaults({ event, threshold_percent: threshold }: NotificationUpdate): FieldFault[] {
  if (event === undefined || threshold === undefined || threshold === null) return [];
  if (defaultThreshold(event) !== null) return [];
  return [{ path: "/threshold_percent", message: `does not apply to ${event}` }];
}

export const NOTIFICATION_PREVIEW = titledObject("NotificationPreview", ["subject", "text"], {
  subject: { type: "string" },
  text: { type: "string" },
  html: { type: "string", description: "HTML body of the email. Only for `email`" },
  body: { type: "object", description: "Body of the chat message. Only for chats" },
});
/** A message as it is sent: `html` of a mail, `body` of the others. */
export type NotificationPreview = FromSchema<typeof NOTIFICATION_PREVIEW>;

export const NOTIFICATION_SENT = titledObject("NotificationSent", ["success"], {
  success: { type: "boolean" },
  error: { type: "string", description: "Why the message was not sent" },
});
export type NotificationSent = FromSchema<typeof NOTIFICATION_SENT>;
