import type { Pool } from "pg";
import {
  LISTED_WEBHOOK,
  WEBHOOK,
  WEBHOOK_CREATE,
  WEBHOOK_DAY,
  WEBHOOK_UPDATE,
  type WebhookRecord,
  parseWebhookCreate,
  parseWebhookUpdate,
} from "../../../schemas/contracts/webhook.js";
import { wholeOwnerFor } from "../../base/access/authorise.js";
import { DEFAULT_QUOTAS, type Quotas } from "../../base/access/quotas.js";
import { type Resource, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute, getRoute, updateRoute } from "../../base/http/resource-routes.js";
import { type Route, route } from "../../base/http/route.js";
import { requireAllowedUrl } from "../../base/outbound/require-allowed-url.js";
import { WEBHOOK_EXAMPLE as EXAMPLE, WEBHOOK_SENT as SENT, WITH_SECRET } from "./secret-routes.js";
import { issueWebhookSecret } from "./sign.js";
import { cancelWebhookDeliveries } from "./webhook-deliveries.js";
import {
  type WebhookDeps,
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  newWebhookId,
  readWebhookDay,
  updateWebhook,
  webhookFor,
  webhookTarget,
} from "./webhooks.js";

const DAY = { pending: 0, delivered: 12, failed: 1, cancelled: 0, attempts: 14, median_ms: 85, p95_ms: 240 };
const NOT_FOR_THE_BLOCKED =
  "Webhooks cover all packages of the owner. If you are blocked from any of the packages, you get 403.";
const URL_RULE = "The URL must be an http or https URL, and its host must have a public IP address.";

interface QuotedDeps extends WebhookDeps {
  /** Disabled webhooks count. */
  quotas?: Quotas;
}

export function webhookRoutes({ pg, guard, sealer, quotas = DEFAULT_QUOTAS }: QuotedDeps): Route[] {
  const resource = webhooksOf(pg);
  return [
    listRoute(resource, {
      description: NOT_FOR_THE_BLOCKED,
      about: "A page of webhooks, newest first",
      entry: { schema: LISTED_WEBHOOK, example: { ...EXAMPLE, last_24_hours: DAY } },
    }),
    createRoute(resource, {
      description: `${URL_RULE} An owner can have ${quotas.webhooks} webhooks. ${NOT_FOR_THE_BLOCKED}`,
      body: { schema: WEBHOOK_CREATE, example: SENT },
      parse: parseWebhookCreate,
      problems: ["webhook-url-not-allowed"],
      quotas,
      count: countWebhooks,
      async prepare(_, { url }) {
        await requireAllowedUrl(guard, url);
        return { id: newWebhookId(), secret: issueWebhookSecret() };
      },
      async insert(client, { owner, sent, prepared: { id, secret } }) {
        await insertWebhook(client, {
          ownerId: owner.id,
          id,
          secret: sealer.seal(secret, id),
          webhook: sent,
        });
        return id;
      },
      changesOf: (sent) => sent,
      answer: { content: WITH_SECRET, fields: ({ secret }) => ({ secret }) },
    }),
    getRoute(resource),
    route({
      method: "GET",
      path: "/v2/:owner/webhooks/:webhook/last-24-hours",
      action: "webhooks.manage",
      operation: {
        id: "getWebhookDay",
        summary: "Get delivery statistics of a webhook",
        answers: {
          200: {
            description: "Deliveries and attempts of the last 24 hours",
            schema: WEBHOOK_DAY,
            example: DAY,
          },
        },
      },
      async handle(call) {
        const { webhook } = await webhookFor(pg, call);
        call.ctx.body = await readWebhookDay(pg, webhook.id);
      },
    }),
    updateRoute(resource, {
      description:
        `Omitted fields stay as they are. ${URL_RULE} Disabling a webhook also cancels its pending ` +
        "deliveries. After you enable it again, it receives new events only.",
      body: { schema: WEBHOOK_UPDATE, example: { enabled: false } },
      parse: parseWebhookUpdate,
      problems: ["webhook-url-not-allowed"],
      example: { ...EXAMPLE, enabled: false },
      async prepare(_, { url }) {
        if (url !== undefined) await requireAllowedUrl(guard, url);
      },
      async apply(client, { before, sent }) {
        const webhook = { ...before, ...sent };
        await updateWebhook(client, { id: before.id, webhook });
        // Also when it is enabled: events from the disabled time are not sent later.
        if (before.enabled !== webhook.enabled) await cancelWebhookDeliveries(client, [before.id]);
      },
    }),
    deleteRoute(resource, {
      summary: "Delete a webhook and its delivery log",
      delete: (client, { id }) => deleteWebhook(client, id),
    }),
  ];
}

function webhooksOf(pg: Pool) {
  return {
    pg,
    name: "webhook",
    plural: "webhooks",
    path: "/v2/:owner/webhooks",
    actions: {
      read: "webhooks.manage",
      create: "webhooks.manage",
      update: "webhooks.manage",
      delete: "webhooks.manage",
    },
    schema: WEBHOOK,
    example: EXAMPLE,
    admit: toOwner(wholeOwnerFor),
    list: listWebhooks,
    find: findWebhook,
    recordOf: (webhook) => webhook,
    targetOf: webhookTarget,
  } as const satisfies Resource<WebhookRecord>;
}
