import { TIMESTAMP } from "../formats.js";
import { STAGES, type Stage } from "../records/funnel.js";

/** The `data` of each kind of event. */
export interface WebhookEventData {
  "company-funnel-stage-changed": {
    /** At most 100. */
    companies: readonly { domain: string; name: string; old_stage?: Stage; new_stage: Stage }[];
  };
  test: { message: string };
}

export type WebhookEventKind = keyof WebhookEventData;

const TEXT = { type: "string" } as const;
const STAGE = { type: "string", enum: STAGES } as const;

/**
 * Every kind of event. Webhooks subscribe to these, the outbox accepts no other, and the OpenAPI document describes
 * each. A new kind needs an entry here and a call of `enqueueWebhookEvent` in the transaction of its change.
 */
export const WEBHOOK_EVENTS = {
  "company-funnel-stage-changed": {
    when: "Companies reached another stage of adoption",
    data: {
      companies: {
        type: "array",
        maxItems: 100,
        items: {
          type: "object",
          required: ["domain", "name", "new_stage"],
          additionalProperties: false,
          properties: { domain: TEXT, name: TEXT, old_stage: STAGE, new_stage: STAGE },
        },
      },
    },
  },
  test: {
    when: "The test of a webhook was asked for, whatever the webhook subscribes to",
    data: { message: TEXT },
  },
} as const satisfies { [Kind in WebhookEventKind]: EventSchema<Kind> };

interface EventSchema<Kind extends WebhookEventKind> {
  /** A sentence without its full stop. */
  when: string;
  /** The properties of `data`, all required. */
  data: Record<keyof WebhookEventData[Kind], object>;
}

export const WEBHOOK_EVENT_KINDS = Object.keys(WEBHOOK_EVENTS) as WebhookEventKind[];

export function webhookEventSchema(kind: WebhookEventKind) {
  const { data } = WEBHOOK_EVENTS[kind];
  return {
    type: "object",
    required: ["id", "type", "owner", "created_at", "data"],
    properties: {
      id: { type: "string", format: "uuid", description: "The same at every attempt to deliver the event" },
      type: { type: "string", const: kind },
      owner: TEXT,
      created_at: TIMESTAMP,
      data: { type: "object", required: Object.keys(data), properties: data },
    },
  };
}
