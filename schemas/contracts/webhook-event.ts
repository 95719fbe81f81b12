import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, namesOf, objectOf, titledObject } from "../formats.js";
import { STAGES } from "../records/funnel.js";
import {
  type DataOf,
  type EventDeclaration,
  NOTIFICATION_EVENTS,
  type NotificationData,
  type NotificationEvent,
  TEXT,
} from "./notification-event.js";

const STAGE = { type: "string", enum: STAGES } as const;

/**
 * Webhooks subscribe to these, the outbox accepts no other, and the OpenAPI document describes each. A new
 * kind needs a call of `enqueueWebhookEvent` in the transaction of its change.
 */
export const WEBHOOK_EVENTS = {
  "company-funnel-stage-changed": {
    label: "Company stage changes",
    when: "Companies entered another funnel stage",
    data: objectOf(["companies"], {
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
    }),
    example: {
      companies: [
        {
          domain: "mercedes-benz.com",
          name: "Mercedes-Benz",
          old_stage: "investigation",
          new_stage: "experimentation",
        },
      ],
    },
  },
  ...NOTIFICATION_EVENTS,
  test: {
    label: "Test event",
    when: "A webhook was tested. It receives this event even if it does not subscribe to it",
    data: objectOf(["message"], { message: TEXT }),
    example: { message: "This is a test." },
  },
} as const satisfies Record<string, EventDeclaration>;

type OwnKind = Exclude<keyof typeof WEBHOOK_EVENTS, NotificationEvent>;

export type WebhookEventData = NotificationData & {
  [Kind in OwnKind]: DataOf<(typeof WEBHOOK_EVENTS)[Kind]["data"]>;
};

export type WebhookEventKind = keyof typeof WEBHOOK_EVENTS;

export const WEBHOOK_EVENT_KINDS = namesOf(WEBHOOK_EVENTS);

/** Without `additionalProperties: false`: receivers must accept new properties. */
export function webhookEventSchema(kind: WebhookEventKind) {
  const { type, required, properties } = WEBHOOK_EVENTS[kind].data;
  return {
    type: "object",
    required: ["id", "type", "owner", "created_at", "data"],
    properties: {
      id: { type: "string", format: "uuid", description: "The same for every attempt to deliver the event" },
      type: { type: "string", const: kind },
      owner: TEXT,
      created_at: TIMESTAMP,
      data: { type, required, properties },
    },
  };
}

/** The body of an event. */
export function exampleEvent(kind: WebhookEventKind, owner = "acme") {
  return {
    id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
    type: kind,
    owner,
    created_at: "2026-11-02T00:05:00.000000Z",
    data: WEBHOOK_EVENTS[kind].example,
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
