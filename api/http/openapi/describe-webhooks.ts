import {
  WEBHOOK_EVENT_KINDS,
  WEBHOOK_EVENTS,
  webhookEventSchema,
} from "../../../schemas/contracts/webhook-event.js";
import type { Components, DocumentObject } from "./components.js";

/** The requests to webhooks, by kind of event. */
export function describeWebhooks(components: Components): DocumentObject {
  const described = WEBHOOK_EVENT_KINDS.map((kind) => [
    kind,
    {
      post: {
        tags: ["Webhooks"],
        summary: WEBHOOK_EVENTS[kind].when,
        parameters: [SIGNATURE],
        requestBody: {
          required: true,
          content: { "application/json": { schema: components.schema(webhookEventSchema(kind)) } },
        },
        responses: { "2XX": { description: "Received; to be answered within 5 s" } },
        security: [],
      },
    },
  ]);
  return Object.fromEntries(described) as DocumentObject;
}

const SIGNATURE = {
  name: "X-Service-Signature",
  in: "header",
  description:
    "`t=<UNIX time>,v1=<hex>`: HMAC-SHA256 of the time, a dot and the body, with the webhook's secret",
  required: true,
  schema: { type: "string" },
};
