import type { RequestListener } from "node:http";
import type { Pool } from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll } from "vitest";
import { inTransaction } from "../../../api/base/postgres/connection.js";
import {
  cancelWebhookDeliveries,
  listWebhookDeliveries,
} from "../../../api/features/webhooks/webhook-deliveries.js";
import type { AttemptOutcome } from "../../../api/features/webhooks/delivery-attempts.js";
import { enqueueWebhookEvent } from "../../../api/base/outbox/webhook-outbox.js";
import { insertWebhook, newWebhookId } from "../../../api/features/webhooks/webhooks.js";
import { createSealer } from "../../../api/base/identity/tokens.js";
import {
  type AddressGuard,
  type ResolveName,
  createAddressGuard,
} from "../../../api/base/outbound/guard-address.js";
import { issueWebhookSecret } from "../../../api/features/webhooks/sign.js";
import { type DeliveryWorker, startDeliveries } from "../../../api/features/webhooks/start-deliveries.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { WebhookDeliveryRecord } from "../../../schemas/contracts/webhook-event.js";
import { SECRET_KEY, type TestPostgres, openTestPostgres } from "./management-api.js";
import { openReceiver } from "./receivers.js";

export const SEALER = createSealer(SECRET_KEY, "webhook-secret");
export const STAGE_CHANGED = "company-funnel-stage-changed" as const;

/** Lets everything pass, like a closed network; names are what `resolve` says. */
export function openGuard(resolve: ResolveName = () => Promise.reject(new Error("no names"))): AddressGuard {
  return createAddressGuard({ allowPrivateNetworks: true }, resolve);
}

/** An event of that owner which says nothing. */
export const eventOf = (ownerId: string) => ({
  ownerId,
  type: STAGE_CHANGED,
  data: { companies: [] },
  createdAt: new Date(),
});

let postgres: TestPostgres;
/** Of the suite that runs. */
export let pg: Pool;
export let ownerId: string;
/** Attempts of all workers of the test that runs, as they ended. */
export const outcomes: AttemptOutcome[] = [];
const pools: Pool[] = [];
const workers: AsyncDisposable[] = [];
const opened: AsyncDisposable[] = [];

/** For the tests of a suite, a database with an owner `acme`; no test leaves webhooks or workers to the next. */
export function useDeliveries(): void {
  beforeAll(async () => {
    postgres = await openTestPostgres();
    ({ pg } = postgres);
    const text =
      "insert into owners (id, kind, name) values (gen_random_uuid(), 'organization', 'acme') returning id";
    ownerId = (await pg.query<{ id: string }>(text)).rows[0]?.id ?? "";
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker[Symbol.asyncDispose]()));
    outcomes.length = 0;
    const { rows } = await pg.query<{ id: string }>("select id from webhooks");
    await cancelWebhookDeliveries(
      pg,
      rows.map(({ id }) => id),
    );
    await pg.query("delete from webhooks");
    for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    await postgres?.[Symbol.asyncDispose]();
  });
}

/** Is closed after the test that runs. */
export function using<T extends AsyncDisposable>(disposable: T): T {
  opened.push(disposable);
  return disposable;
}

/** Of acme or another owner, which then has so many events. */
export async function addWebhook(
  url: string,
  of: { ownerId: string; events: number } = { ownerId, events: 0 },
) {
  const id = newWebhookId();
  const secret = issueWebhookSecret();
  const webhook = { url, event_kinds: [STAGE_CHANGED] };
  await insertWebhook(pg, { ownerId: of.ownerId, id, secret: SEALER.seal(secret, id), webhook });
  for (let event = 0; event < of.events; event += 1) await enqueueWebhookEvent(pg, eventOf(of.ownerId));
  return { id, secret };
}

/** A receiver and a webhook that leads to it. */
export async function listen(answer?: RequestListener) {
  const receiver = using(await openReceiver(answer));
  const { id: webhookId, secret } = await addWebhook(receiver.url);
  return { receiver, webhookId, secret };
}

/** Events for every webhook that there is; their ids. */
export function enqueue(count = 1): Promise<string[]> {
  return inTransaction(pg, async (client) => {
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) ids.push(await enqueueWebhookEvent(client, eventOf(ownerId)));
    return ids;
  });
}

/** The newest first. */
export async function deliveriesTo(webhookId: string): Promise<WebhookDeliveryRecord[]> {
  return (await listWebhookDeliveries(pg, { webhookId, page: { perPage: 1_000 } })).deliveries;
}

export const statesOf = async (webhookId: string) =>
  (await deliveriesTo(webhookId)).map(({ state }) => state).sort();

/** Ends with the test at the latest. */
export function startWorker(options: Partial<DeliveryWorker> = {}): AsyncDisposable {
  const own = connectPostgres({ url: postgres.url, connectionsMax: 2, log: pino({ level: "silent" }) });
  pools.push(own);
  const worker = startDeliveries({
    pg: own,
    guard: openGuard(),
    sealer: SEALER,
    onFailure: (error) => console.error(error),
    onAttempt: (outcome) => outcomes.push(outcome),
    random: () => 0.5,
    ...options,
    timing: { pollMs: 10, ...options.timing },
  });
  workers.push(worker);
  return worker;
}
