import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, objectOf, titledObject } from "../formats.js";
import { STAGES, type Stage } from "../records/funnel.js";
import { NOTIFICATION_DATA, type NotificationData } from "./notification-event.js";

export interface WebhookEventData extends NotificationData {
  "company-funnel-stage-changed": {
    /** At most 100. */
    companies: readonly { domain: string; name: string; old_stage?: Stage; new_stage: Stage }[];
  };
  test: { message: string };
}

export type WebhookEventKind = keyof WebhookEventData;

const TEXT = { type: "string" } as const;
const ONE_PACKAGE = { ...TEXT, description: "The package" } as const;
const STAGE = { type: "string", enum: STAGES } as const;

/**
 * Webhooks subscribe to these, the outbox accepts no other, and the OpenAPI document describes each. A new
 * kind needs a call of `enqueueWebhookEvent` in the transaction of its change.
 */
export const WEBHOOK_EVENTS = {
  "company-funnel-stage-changed": {
    when: "Companies entered another funnel stage",
    data: {
      companies: {
        type: "array",
        maxItems: 100,
        items: objectOf(["domain", "name", "new_stage"], {
          domain: TEXT,
          name: TEXT,
          old_stage: STAGE,
          new_stage: STAGE,
        }),
      },
    },
  },
  ...NOTIFICATION_DATA,
  test: {
    when: "A webhook was tested. It receives this event even if it does not subscribe to it",
    data: { message: TEXT },
  },
} as const satisfies { [Kind in WebhookEventKind]: EventSchema<Kind> };

/** Properties of `data` that may be left out. */
const OPTIONAL: { [Kind in WebhookEventKind]: Record<OptionalOf<WebhookEventData[Kind]>, object> } = {
  "company-funnel-stage-changed": {},
  "weekly-digest": { package: ONE_PACKAGE },
  "monthly-digest": { package: ONE_PACKAGE },
  "new-companies": { package: ONE_PACKAGE },
  "downloads-changed": { package: ONE_PACKAGE },
  "import-failed": {
    artifact: { ...TEXT, description: "Absent for imports into several packages or pixels" },
  },
  "webhook-disabled": {},
  "source-failed": {},
  test: {},
};

type OptionalOf<Data> = {
  [Name in keyof Data]-?: object extends Pick<Data, Name> ? Name : never;
}[keyof Data];

interface EventSchema<Kind extends WebhookEventKind> {
  when: string;
  /** The properties of `data` that are always there. */
  data: Partial<Record<keyof WebhookEventData[Kind], object>>;
}

export const WEBHOOK_EVENT_KINDS = Object.keys(WEBHOOK_EVENTS) as WebhookEventKind[];

export function webhookEventSchema(kind: WebhookEventKind) {
  const { data } = WEBHOOK_EVENTS[kind];
  return {
    type: "object",
    required: ["id", "type", "owner", "created_at", "data"],
    properties: {
      id: { type: "string", format: "uuid", description: "The same for every attempt to deliver the event" },
      type: { type: "string", const: kind },
      owner: TEXT,
      created_at: TIMESTAMP,
      data: {
        type: "object",
        required: Object.keys(data),
        properties: { ...data, ...OPTIONAL[kind] },
      },
    },
  };
}

export const DELIVERY_STATES = ["pending", "delivered", "failed", "cancelled"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const STATUS = {
  type: ["integer", "null"],
  description: "HTTP status of the response. Null if there was no response",
} as const;

const ATTEMPT = objectOf(["started_at", "status", "duration_ms"], {
  started_at: TIMESTAMP,
  status: STATUS,
  duration_ms: { type: "integer" },
  error: { type: "string", description: "Why there was no response" },
  response_body: { type: "string", description: "The first 2048 bytes of the response, decompressed" },
});
export type WebhookAttemptRecord = FromSchema<typeof ATTEMPT>;

export const WEBHOOK_DELIVERY = titledObject(
  "WebhookDelivery",
  ["id", "event_id", "event_type", "state", "attempts", "created_at"],
  {
    id: { type: "string", format: "uuid" },
    event_id: { type: "string", format: "uuid" },
    event_type: { type: "string", enum: WEBHOOK_EVENT_KINDS },
    state: { type: "string", enum: DELIVERY_STATES },
    attempts: { type: "array", items: ATTEMPT },
    next_attempt_at: TIMESTAMP,
    created_at: TIMESTAMP,
    ended_at: TIMESTAMP,
  },
);
export type WebhookDeliveryRecord = FromSchema<typeof WEBHOOK_DELIVERY>;

export const WEBHOOK_TEST_RESULT = titledObject(
  "WebhookTestResult",
  ["success", "status", "response_body", "duration_ms"],
  {
    success: {
      type: "boolean",
      description: "Whether the receiver responded with a status from 200 to 299 within 5 s",
    },
    status: STATUS,
    response_body: { type: "string", description: "The first 2048 bytes of the response, decompressed" },
    error: { type: "string", description: "Why there was no response" },
    duration_ms: { type: "integer" },
  },
);
export type WebhookTestResult = FromSchema<typeof WEBHOOK_TEST_RESULT>;
