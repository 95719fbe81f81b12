import { RateLimiterMemory } from "rate-limiter-flexible";
import { v7 as uuidv7 } from "uuid";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import {
  DELIVERY_STATES,
  WEBHOOK_DELIVERY,
  WEBHOOK_TEST_RESULT,
  type WebhookDeliveryRecord,
  type WebhookTestResult,
} from "../../../schemas/contracts/webhook-event.js";
import { requireFew } from "../../base/identity/failure-limits.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../../base/http/answers/paging.js";
import { type Call, type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { lockOwner } from "../../base/access/owners.js";
import type { Postgres } from "../../base/postgres/query.js";
import { listWebhookDeliveries, readWebhookDelivery, restartWebhookDelivery } from "./webhook-deliveries.js";
import { type Delivery, insertWebhookTest } from "./delivery-attempts.js";
import { webhookBody } from "../../base/outbox/webhook-outbox.js";
import { type WebhookDeps, readWebhookSecrets, webhookFor, webhookTarget } from "./webhooks.js";
import { deliver, isSuccess } from "./start-deliveries.js";
import type { Exchange } from "../../base/outbound/send-request.js";

/** Of one owner, and by one account, in a minute. Each process counts for itself. */
export const TESTS_MAX = 20;
/** Of one webhook in a minute, likewise. */
export const REDELIVERIES_MAX = 20;

const ATTEMPT = {
  started_at: "2026-08-04T13:58:27.530000Z",
  status: 200,
  duration_ms: 112,
  response_body: "thank you",
};
const EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  event_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27",
  event_type: "company-funnel-stage-changed",
  state: "delivered",
  attempts: [ATTEMPT],
  created_at: "2026-08-04T13:58:26.021037Z",
  ended_at: "2026-08-04T13:58:27.650173Z",
};
const PATH = "/v2/:owner/webhooks/:webhook";

export function webhookDeliveryRoutes({ pg, guard, sealer }: WebhookDeps): Route[] {
  const tests = new RateLimiterMemory({ points: TESTS_MAX, duration: 60 });
  const redeliveries = new RateLimiterMemory({ points: REDELIVERIES_MAX, duration: 60 });
  return [
    route({
      method: "POST",
      path: `${PATH}/test`,
      action: "webhooks.manage",
      operation: {
        id: "testWebhook",
        summary: "Send a test event to a webhook",
        description:
          `Returns the receiver's response. Works for disabled webhooks too. At most ${TESTS_MAX} tests a minute ` +
          "per owner and per account. Failed tests are not retried. The delivery log lists the test as an event " +
          "of type `test`.",
        answers: {
          200: {
            description: "The result of the test",
            schema: WEBHOOK_TEST_RESULT,
            example: { success: true, status: 200, response_body: "thank you", duration_ms: 112 },
          },
        },
      },
      async handle(call) {
        const { ownerId, delivery } = await prepareTest(pg, call, tests);
        const startedAt = new Date();
        const exchange = await deliver(delivery, { guard, sealer, at: startedAt });
        const state = isSuccess(exchange) ? "delivered" : "failed";
        await insertWebhookTest(pg, { ownerId, delivery, startedAt, exchange, state });
        call.ctx.body = testResult(exchange);
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/deliveries`,
      action: "webhooks.manage",
      operation: {
        id: "listWebhookDeliveries",
        summary: "List deliveries of a webhook",
        description:
          "Deliveries are kept for 30 days. Each delivery lists its latest 20 attempts, newest first. If " +
          "responses were large, a page can have fewer than `per_page` deliveries; the last page is the " +
          "one without `next`.",
        query: {
          ...PAGE_QUERY,
          state: {
            schema: { type: "string", enum: DELIVERY_STATES },
            description: "Return only deliveries in this state",
          },
        },
        answers: {
          200: pageAnswer({
            name: "deliveries",
            record: WEBHOOK_DELIVERY,
            example: EXAMPLE,
            title: "WebhookDeliveryList",
            description: "A page of deliveries, newest first",
          }),
        },
      },
      async handle(call) {
        const page = pageOf(call.query);
        const { webhook } = await webhookFor(pg, call);
        const asked = { webhookId: webhook.id, page, state: call.query.state };
        const { deliveries: rows, more } = await listWebhookDeliveries(pg, asked);
        call.ctx.body = pageBody(call.ctx, { name: "deliveries", rows, page, more, record: (each) => each });
      },
    }),
    route({
      method: "POST",
      path: `${PATH}/deliveries/:delivery/redeliver`,
      action: "webhooks.manage",
      operation: {
        id: "redeliverWebhookEvent",
        summary: "Retry a delivery",
        description:
          "Sends the event again with the same id and body, and with the usual retries. At most " +
          `${REDELIVERIES_MAX} a minute per webhook.`,
        answers: {
          200: {
            description: "The delivery. It is attempted immediately",
            schema: WEBHOOK_DELIVERY,
            example: { ...EXAMPLE, state: "pending", next_attempt_at: "2026-08-05T03:00:00.120000Z" },
          },
        },
        problems: ["delivery-in-progress", "webhook-disabled"],
      },
      async handle(call) {
        call.ctx.body = await inTransaction(pg, (client) => redeliver(client, call, redeliveries));
      },
    }),
  ];
}

type Managing = Call<"webhooks.manage">;

/** The test is recorded before it is sent, so that no connection or lock is held while the receiver answers. */
async function prepareTest(
  pg: WebhookDeps["pg"],
  call: Managing,
  tests: RateLimiterMemory,
): Promise<{ ownerId: string; delivery: Delivery }> {
  return inTransaction(pg, async (client) => {
    const { ownerId, webhook } = await webhookFor(client, call);
    await requireFew(
      tests,
      ownerId,
      "The webhooks of this owner were tested too often in the last minute. Try again later.",
    );
    // An account may have a thousand organizations.
    await requireFew(
      tests,
      `by ${call.account.id}`,
      "You tested webhooks too often in the last minute. Try again later.",
    );
    const secrets = await readWebhookSecrets(client, { ownerId, id: webhook.id });
    if (secrets === undefined) throw new Problem("not-found", "The webhook has been deleted.");
    const target = webhookTarget(webhook);
    await call.record(client, { ownerId, target, changes: { test: true }, isRepeatable: true });
    const id = uuidv7();
    const data = { message: `This is a test of the webhook ${webhook.id}.` };
    const body = webhookBody({ id, owner: webhook.owner, type: "test", data, createdAt: new Date() });
    return { ownerId, delivery: { eventId: id, webhookId: webhook.id, url: webhook.url, body, ...secrets } };
  });
}

function testResult(exchange: Exchange): WebhookTestResult {
  const { status, responseBody, error, durationMs } = exchange;
  const success = isSuccess(exchange);
  const result = { success, status, response_body: responseBody, duration_ms: durationMs };
  return error === undefined ? result : { ...result, error };
}

async function redeliver(
  client: Postgres,
  call: Managing,
  redeliveries: RateLimiterMemory,
): Promise<WebhookDeliveryRecord> {
  await lockOwner(client, call.param("owner"));
  const { ownerId, webhook } = await webhookFor(client, call);
  const id = call.param("delivery");
  const named = { webhookId: webhook.id, id };
  const delivery = isUuid(id) ? await readWebhookDelivery(client, named) : undefined;
  if (delivery === undefined)
    throw new Problem("not-found", `The webhook has no delivery with the id ${id}.`);
  if (!webhook.enabled)
    throw new Problem("webhook-disabled", "The webhook is disabled. Enable it to deliver events.");
  if (delivery.state !== "pending")
    await requireFew(
      redeliveries,
      webhook.id,
      "Too many deliveries of this webhook were retried in the last minute. Try again later.",
    );
  if (!(await restartWebhookDelivery(client, delivery.id)))
    throw new Problem(
      "delivery-in-progress",
      "The delivery is still in progress and will be retried automatically.",
    );
  const target = { kind: "delivery", id: delivery.id, name: webhook.url } as const;
  await call.record(client, { ownerId, target, changes: { redelivered: true }, isRepeatable: true });
  return (await readWebhookDelivery(client, named)) ?? delivery;
}
