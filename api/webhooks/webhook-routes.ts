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
} from "../../schemas/contracts/webhook.js";
import { wholeOwnerFor } from "../access/authorise.js";
import { changedFields } from "../access/audit-entries.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../http/answers/headers.js";
import { readJson } from "../http/middleware/read-json.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../http/answers/paging.js";
import { DEFAULT_QUOTAS, QUOTA_PROBLEMS, type Quotas, requireRoom } from "../access/quotas.js";
import { type Call, type Route, route } from "../http/route.js";
import { inTransaction } from "../postgres/connection.js";
import { lockOwner } from "../access/owners.js";
import { cancelWebhookDeliveries } from "./webhook-deliveries.js";
import {
  type WebhookDeps,
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  listWebhooks,
  newWebhookId,
  readWebhookDay,
  updateWebhook,
  webhookFor,
  webhookTarget,
} from "./webhooks.js";
import { WEBHOOK_EXAMPLE as EXAMPLE, WEBHOOK_SENT as SENT, WITH_SECRET } from "./secret-routes.js";
import { issueWebhookSecret } from "./sign.js";
import type { AddressGuard } from "../outbound/guard-address.js";
import { requireAllowedUrl } from "../outbound/require-allowed-url.js";

const ANSWER = { description: "The webhook", schema: WEBHOOK, example: EXAMPLE };
const DAY = { pending: 0, delivered: 12, failed: 1, cancelled: 0, attempts: 14, median_ms: 85, p95_ms: 240 };
const LISTED_EXAMPLE = { ...EXAMPLE, last_24_hours: DAY };
const LIST_PATH = "/v2/:owner/webhooks";
const PATH = "/v2/:owner/webhooks/:webhook";
const NOT_FOR_THE_BLOCKED =
  "Webhooks cover all packages of the owner. If you are blocked from any of the packages, you get 403.";
const URL_RULE = "The URL must be an http or https URL, and its host must have a public IP address.";

interface QuotedDeps extends WebhookDeps {
  /** Disabled webhooks count. */
  quotas?: Quotas;
}

export function webhookRoutes({ pg, guard, sealer, quotas = DEFAULT_QUOTAS }: QuotedDeps): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "webhooks.manage",
      operation: {
        id: "listWebhooks",
        summary: "List webhooks",
        description: NOT_FOR_THE_BLOCKED,
        query: PAGE_QUERY,
        answers: {
          200: pageAnswer({
            name: "webhooks",
            record: LISTED_WEBHOOK,
            example: LISTED_EXAMPLE,
            title: "WebhookList",
            description: "A page of webhooks, newest first",
          }),
        },
      },
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
        const { id: ownerId } = await wholeOwnerFor(pg, account, param("owner"), action);
        const rows = await listWebhooks(pg, { ownerId, page });
        ctx.body = pageBody(ctx, { name: "webhooks", rows, page, record: (each) => each });
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "webhooks.manage",
      operation: {
        id: "createWebhook",
        summary: "Create a webhook",
        description: `${URL_RULE} An owner can have ${quotas.webhooks} webhooks. ${NOT_FOR_THE_BLOCKED}`,
        body: { schema: WEBHOOK_CREATE, example: SENT },
        answers: { 201: WITH_SECRET },
        problems: ["webhook-url-not-allowed", QUOTA_PROBLEMS.webhooks],
      },
      async handle(call) {
        const { webhook, secret } = await createWebhook({ pg, guard, sealer, quotas }, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/${encodeURIComponent(webhook.owner)}/webhooks/${webhook.id}`);
        call.ctx.body = { ...webhook, secret };
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "webhooks.manage",
      operation: { id: "getWebhook", summary: "Get a webhook", answers: { 200: ANSWER } },
      async handle(call) {
        answerRecord(call.ctx, (await webhookFor(pg, call)).webhook);
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/last-24-hours`,
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
    route({
      method: "PUT",
      path: PATH,
      action: "webhooks.manage",
      operation: {
        id: "updateWebhook",
        summary: "Update, disable or enable a webhook",
        description:
          `Omitted fields stay as they are. ${URL_RULE} Disabling a webhook also cancels its waiting ` +
          "deliveries. After you enable it again, it receives new events only.",
        body: { schema: WEBHOOK_UPDATE, example: { enabled: false } },
        answers: { 200: { ...ANSWER, example: { ...EXAMPLE, enabled: false } } },
        problems: ["webhook-url-not-allowed", "precondition-failed"],
      },
      async handle(call) {
        answerRecord(call.ctx, await changeWebhook({ pg, guard }, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "webhooks.manage",
      operation: {
        id: "deleteWebhook",
        summary: "Delete a webhook and its delivery log",
        answers: { 204: { description: "Webhook deleted" } },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, call.param("owner"));
          const { ownerId, webhook } = await webhookFor(client, call);
          requireMatch(call.ctx, entityTag(webhook));
          await deleteWebhook(client, webhook.id);
          await call.record(client, { ownerId, target: webhookTarget(webhook), changes: { deleted: true } });
        });
        call.ctx.status = 204;
      },
    }),
  ];
}

type Managing = Call<"webhooks.manage">;

async function createWebhook(
  { pg, guard, sealer, quotas }: Required<QuotedDeps>,
  call: Managing,
): Promise<{ webhook: WebhookRecord; secret: string }> {
  const sent = await readJson(call.ctx, parseWebhookCreate);
  const { account, action, param, record } = call;
  // Checked before any name is looked up: only callers who may create a webhook can cause a lookup.
  await wholeOwnerFor(pg, account, param("owner"), action);
  await requireAllowedUrl(guard, sent.url);
  const id = newWebhookId();
  const secret = issueWebhookSecret();
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const { id: ownerId, name } = await wholeOwnerFor(client, account, param("owner"), action);
    requireRoom(quotas, "webhooks", { name, count: await countWebhooks(client, ownerId) });
    await insertWebhook(client, { ownerId, id, secret: sealer.seal(secret, id), webhook: sent });
    const made = { account, action, param: (parameter: string) => (parameter === "webhook" ? id : name) };
    const { webhook } = await webhookFor(client, made);
    await record(client, { ownerId, target: webhookTarget(webhook), changes: sent });
    return { webhook, secret };
  });
}

async function changeWebhook(
  { pg, guard }: { pg: Pool; guard: AddressGuard },
  call: Managing,
): Promise<WebhookRecord> {
  const sent = await readJson(call.ctx, parseWebhookUpdate);
  await webhookFor(pg, call);
  if (sent.url !== undefined) await requireAllowedUrl(guard, sent.url);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, call.param("owner"));
    const { ownerId, webhook: before } = await webhookFor(client, call);
    requireMatch(call.ctx, entityTag(before));
    const { url, event_kinds, enabled } = { ...before, ...sent };
    await updateWebhook(client, { id: before.id, webhook: { url, event_kinds, enabled } });
    // Also when it is enabled: events from the disabled time are not sent later.
    if (before.enabled !== enabled) await cancelWebhookDeliveries(client, [before.id]);
    const { webhook: after } = await webhookFor(client, call);
    const changes = changedFields(before, after);
    await call.record(client, { ownerId, target: webhookTarget(after), changes });
    return after;
  });
}
