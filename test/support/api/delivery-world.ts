import type { Pool } from "pg";
import { pino } from "pino";
import { inTransaction } from "../../../api/postgres/connection.js";
import { cancelWebhookDeliveries, listWebhookDeliveries } from "../../../api/webhooks/webhook-deliveries.js";
import type { AttemptOutcome } from "../../../api/webhooks/webhook-outcomes.js";
import { enqueueWebhookEvent } from "../../../api/webhooks/webhook-outbox.js";
import { insertWebhook, newWebhookId } from "../../../api/webhooks/webhooks.js";
import { createSealer } from "../../../api/identity/tokens.js";
import {
  type AddressGuard,
  type ResolveName,
  createAddressGuard,
} from "../../../api/outbound/guard-address.js";
import { issueWebhookSecret } from "../../../api/webhooks/sign.js";
import { type DeliveryWorker, startDeliveries } from "../../../api/webhooks/start-deliveries.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import type { WebhookDeliveryRecord } from "../../../schemas/contracts/webhook-event.js";
import { SECRET_KEY, type TestPostgres, openTestPostgres } from "./management-api.js";

/** A database with an owner whose webhooks workers in this process deliver to. */
export interface DeliveryWorld extends AsyncDisposable {
  postgres: TestPostgres;
  pg: Pool;
  ownerId: string;
  addWebhook: (url: string) => Promise<{ id: string; secret: string }>;
  /** Events for every webhook that there is; their ids. */
  enqueue: (count?: number) => Promise<string[]>;
  /** The newest first. */
  deliveriesTo: (webhookId: string) => Promise<WebhookDeliveryRecord[]>;
  /** Ends with the world at the latest. */
  startWorker: (options?: Partial<DeliveryWorker>) => AsyncDisposable;
  /** Attempts of all workers, as they ended. */
  outcomes: AttemptOutcome[];
  /** Removes every webhook. */
  clear: () => Promise<void>;
}

export const SEALER = createSealer(SECRET_KEY, "webhook-secret");

/** Lets everything pass, like a closed network; names are what `resolve` says. */
export function openGuard(resolve: ResolveName = () => Promise.reject(new Error("no names"))): AddressGuard {
  return createAddressGuard({ allowPrivateNetworks: true }, resolve);
}

export async function openDeliveryWorld(): Promise<DeliveryWorld> {
  const postgres = await openTestPostgres();
  const { pg } = postgres;
  const ownerId = await insertOwner(pg);
  const running = new Set<AsyncDisposable>();
  const pools: Pool[] = [];
  const outcomes: AttemptOutcome[] = [];
  const stopAll = async () => {
    await Promise.all([...running].map((worker) => worker[Symbol.asyncDispose]()));
    running.clear();
  };
  return {
    postgres,
    pg,
    ownerId,
    outcomes,
    addWebhook: (url) => addWebhook(pg, { ownerId, url }),
    async enqueue(count = 1) {
      const event = { ownerId, type: STAGE_CHANGED, data: { companies: [] }, createdAt: new Date() };
      return inTransaction(pg, async (client) => {
        const ids: string[] = [];
        for (let made = 0; made < count; made += 1) ids.push(await enqueueWebhookEvent(client, event));
        return ids;
      });
    },
    deliveriesTo: async (webhookId) =>
      (await listWebhookDeliveries(pg, { webhookId, page: { perPage: 1_000 } })).deliveries,
    startWorker(options = {}) {
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
      running.add(worker);
      return worker;
    },
    async clear() {
      await stopAll();
      outcomes.length = 0;
      const { rows } = await pg.query<{ id: string }>("select id from webhooks");
      await cancelWebhookDeliveries(
        pg,
        rows.map(({ id }) => id),
      );
      await pg.query("delete from webhooks");
    },
    async [Symbol.asyncDispose]() {
      await stopAll();
      await Promise.all(pools.map((pool) => pool.end()));
      await postgres[Symbol.asyncDispose]();
    },
  };
}

const STAGE_CHANGED = "company-funnel-stage-changed" as const;

async function insertOwner(pg: Pool): Promise<string> {
  const text =
    "insert into owners (id, kind, name) values (gen_random_uuid(), 'organization', 'acme') returning id";
  return (await pg.query<{ id: string }>(text)).rows[0]?.id ?? "";
}

async function addWebhook(pg: Pool, { ownerId, url }: { ownerId: string; url: string }) {
  const id = newWebhookId();
  const secret = issueWebhookSecret();
  const webhook = { url, event_kinds: [STAGE_CHANGED] };
  await insertWebhook(pg, { ownerId, id, secret: SEALER.seal(secret, id), webhook });
  return { id, secret };
}
