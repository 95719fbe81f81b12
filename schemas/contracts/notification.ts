import { TIMESTAMP, titledObject } from "../formats.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";
import { NOTIFICATION_EVENTS, type NotificationEvent } from "./notification-data.js";

export const NOTIFICATION_CHANNELS = ["email", "slack", "discord", "mattermost", "teams"] as const;
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number];

/** Of the events that have a threshold, the one that counts where none is given. */
export const THRESHOLDS: Readonly<Partial<Record<NotificationEvent, number>>> = {
  "downloads-changed": 50,
  "import-failed": 1,
};

export interface NotificationRecord {
  id: string;
  owner: string;
  event: NotificationEvent;
  package_id?: string;
  threshold_percent?: number;
  channel: NotificationChannel;
  /** An address, or the host of a URL. */
  target: string;
  enabled: boolean;
  /** Of a mail: whether its receiver gets it, having agreed and not stopped it. */
  confirmed?: boolean;
  /** Of a mail: whether its receiver stopped it. */
  stopped?: boolean;
  created_at: string;
  updated_at: string;
  last_sent_at?: string;
  /** Of the last message; absent once it was sent. */
  last_error?: string;
}

export interface NotificationUpdate {
  event?: NotificationEvent;
  package?: string | null;
  threshold_percent?: number | null;
  channel?: NotificationChannel;
  target?: string;
  enabled?: boolean;
}

export type NotificationCreate = NotificationUpdate &
  Required<Pick<NotificationUpdate, "event" | "channel" | "target">>;

const SENT = {
  event: { type: "string", enum: NOTIFICATION_EVENTS },
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
    description:
      "For `downloads-changed`: minimum difference, in percent, from the median of the same weekday in " +
      "the previous four weeks (default 50). For `import-failed`: percentage of rejected lines above " +
      "which you are notified (default 1)",
  },
  channel: { type: "string", enum: NOTIFICATION_CHANNELS },
  target: {
    type: "string",
    format: "line",
    minLength: 1,
    maxLength: 2048,
    description:
      "An e-mail address, or the URL of an incoming webhook. The URL is a secret; responses contain only its host",
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
    target: { type: "string" },
    enabled: { type: "boolean" },
    confirmed: {
      type: "boolean",
      description:
        "For `email`: whether mails are sent. True if the receiver is a member of the owner or has confirmed " +
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
        "Error of the last message, including messages sent by hand. Absent once a message was sent",
    },
  },
);
export const NOTIFICATION_CREATE = titledObject("NotificationCreate", ["event", "channel", "target"], SENT);
export const NOTIFICATION_UPDATE = titledObject("NotificationUpdate", [], SENT);

export const parseNotificationCreate = compileBody<NotificationCreate>(NOTIFICATION_CREATE, thresholdFaults);
export const parseNotificationUpdate = compileBody<NotificationUpdate>(NOTIFICATION_UPDATE, thresholdFaults);

function thresholdFaults({ event, threshold_percent: threshold }: NotificationUpdate): FieldFault[] {
  if (event === undefined || threshold === undefined || threshold === null || event in THRESHOLDS) return [];
  return [{ path: "/threshold_percent", message: `is not a field of ${event}` }];
}

/** A message as it is sent: `html` of a mail, `body` of the others. */
export interface NotificationPreview {
  subject: string;
  text: string;
  html?: string;
  body?: object;
}

export const NOTIFICATION_PREVIEW = titledObject("NotificationPreview", ["subject", "text"], {
  subject: { type: "string" },
  text: { type: "string" },
  html: { type: "string", description: "Subject of a mail" },
  body: { type: "object", description: "Body of the message to a chat" },
});

export interface NotificationSent {
  success: boolean;
  error?: string;
}

export const NOTIFICATION_SENT = titledObject("NotificationSent", ["success"], {
  success: { type: "boolean" },
  error: { type: "string", description: "Why it was not sent" },
});
