import type { FromSchema } from "json-schema-to-ts";
import { COUNT, TIMESTAMP, recordOf, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";
import { DELIVERY_STATES, WEBHOOK_EVENT_KINDS } from "./webhook-event.js";

export type WebhookUpdate = Partial<WebhookCreate>;

const KINDS = {
  type: "array",
  minItems: 1,
  uniqueItems: true,
  items: { type: "string", enum: WEBHOOK_EVENT_KINDS },
} as const;

const FIELDS = {
  id: { type: "string", format: "uuid" },
  owner: { type: "string" },
  url: { type: "string" },
  event_kinds: KINDS,
  enabled: { type: "boolean" },
  disabled_reason: { type: "string" },
  old_secret_until: {
    ...TIMESTAMP,
    description: "Until this time, requests are also signed with the previous secret",
  },
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
} as const;

export const WEBHOOK = titledObject(
  "Webhook",
  ["id", "owner", "url", "event_kinds", "enabled", "created_at", "updated_at"],
  FIELDS,
);
export type WebhookRecord = FromSchema<typeof WEBHOOK>;

export const WEBHOOK_DAY = {
  title: "WebhookDay",
  type: "object",
  required: [...DELIVERY_STATES, "attempts"],
  additionalProperties: false,
  properties: {
    ...recordOf(DELIVERY_STATES, COUNT),
    attempts: COUNT,
    median_ms: { ...COUNT, description: "Median response time. Absent if there were no responses" },
    p95_ms: { ...COUNT, description: "95th percentile of response times" },
  },
  description: "Deliveries that started in the last 24 hours (including tests), by state, and their attempts",
} as const;
/** The deliveries that began in the last 24 hours, by state, and their attempts. */
export type WebhookDay = FromSchema<typeof WEBHOOK_DAY>;

export const LISTED_WEBHOOK = titledObject("ListedWebhook", [...WEBHOOK.required, "last_24_hours"], {
  ...FIELDS,
  last_24_hours: WEBHOOK_DAY,
});
export type ListedWebhook = FromSchema<typeof LISTED_WEBHOOK>;

export const WEBHOOK_WITH_SECRET = titledObject("WebhookWithSecret", [...WEBHOOK.required, "secret"], {
  ...FIELDS,
  secret: { type: "string" },
});

const SENT = {
  url: { type: "string", format: "text", minLength: 1, maxLength: 2048 },
  event_kinds: KINDS,
  enabled: { type: "boolean" },
} as const;

export const WEBHOOK_CREATE = titledObject("WebhookCreate", ["url", "event_kinds"], SENT);
export type WebhookCreate = FromSchema<typeof WEBHOOK_CREATE>;

export const WEBHOOK_UPDATE = {
  title: "WebhookUpdate",
  type: "object",
  additionalProperties: false,
  properties: SENT,
} as const;

export const parseWebhookCreate = compileBody<WebhookCreate>(WEBHOOK_CREATE);
export const parseWebhookUpdate = compileBody<WebhookUpdate>(WEBHOOK_UPDATE);
