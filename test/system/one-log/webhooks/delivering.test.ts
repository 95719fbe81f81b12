import type { RequestListener } from "node:http";
import { describe, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { pause } from "../../../../schemas/async/pause.js";
import { DELIVERY_LIMITS } from "../../../../api/features/webhooks/start-deliveries.js";
import {
  cancelWebhookDeliveries,
  deleteOldDeliveries,
  readWebhookBacklog,
  restartWebhookDelivery,
} from "../../../../api/features/webhooks/webhook-deliveries.js";
import {
  type Claimed,
  type ServedLast,
  claimItems,
  servedLast,
} from "../../../../api/base/outbox/claim-items.js";
import { DELIVERIES } from "../../../../api/features/webhooks/delivery-attempts.js";
import { lockOwner } from "../../../../api/base/access/owners.js";
import { enqueueWebhookEvent } from "../../../../api/base/outbox/webhook-outbox.js";
import {
  readWebhook,
  updateWebhook,
  updateWebhookSecret,
} from "../../../../api/features/webhooks/webhooks.js";
import { inTransaction } from "../../../../api/base/postgres/connection.js";
import { issueWebhookSecret } from "../../../../api/features/webhooks/sign.js";
import {
  addWebhook,
  deliveriesTo,
  enqueue,
  eventOf,
  listen,
  outcomes,
  ownerId,
  pg,
  SEALER,
  STAGE_CHANGED,
  startWorker,
  statesOf,
  useDeliveries,
  using,
} from "../../../support/api/delivery-world.js";
import { putAccount, putOwner } from "../../../support/notifications/put-notifications.js";
import {
  openRawReceiver,
  openReceiver,
  readAnnouncement,
  type Received,
} from "../../../support/api/receivers.js";

useDeliveries();

const sorted = (received: Received[]) => received.map(({ id }) => id).sort();

/** A receiver's answer that does not come before it is released. */
function heldAnswer() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const answer: RequestListener = (_, response) => void released.then(() => response.end("late"));
  return { answer, release };
}

describe("an event", () => {
  test("comes as it was when it happened, signed, to every webhook that subscribes", async () => {
    const heard = [await listen(), await listen()];
    const createdAt = new Date("2026-08-04T13:58:26.021Z");
    const data = {
      companies: [{ domain: "mercedes-benz.com", name: "Größe", new_stage: "interest" as const }],
    };
    const id = await enqueueWebhookEvent(pg, { ...eventOf(ownerId), data, createdAt });
    await pg.query("update owners set name = 'renamed' where id = $1", [ownerId]);
    startWorker();
    await expect.poll(() => heard.flatMap(({ receiver }) => receiver.received).length).toBe(2);
    await pg.query("update owners set name = 'acme' where id = $1", [ownerId]);
    const event = { id, type: STAGE_CHANGED, owner: "acme", created_at: "2026-08-04T13:58:26.021000Z", data };
    const got = heard.map(({ receiver }) => receiver.received[0] as Received);
    for (const [nth, { secret }] of heard.entries()) {
      expect(readAnnouncement(got[nth] as Received, secret)).toEqual(event);
      expect(got[nth]).toMatchObject({ id, headers: { "content-type": "application/json" } });
      expect(got[nth]?.headers["user-agent"]).toMatch(/^maintainer-toolchain\//);
    }
    expect(got[0]?.body).toEqual(got[1]?.body);
  });

  test("goes with the transaction that it is of, and to no webhook that is disabled or wants other kinds", async () => {
    const url = "http://127.0.0.1:9/";
    const [enabled, disabled, others] = [await addWebhook(url), await addWebhook(url), await addWebhook(url)];
    const change = { url, event_kinds: [STAGE_CHANGED], enabled: true };
    await updateWebhook(pg, { id: disabled.id, webhook: { ...change, enabled: false } });
    await updateWebhook(pg, { id: others.id, webhook: { ...change, event_kinds: ["test"] } });
    const undone = inTransaction(pg, async (client) => {
      await enqueueWebhookEvent(client, eventOf(ownerId));
      throw new Error("changed my mind");
    });
    await expect(undone).rejects.toThrow("changed my mind");
    await enqueue();
    const counts = [enabled, disabled, others].map(async ({ id }) => (await statesOf(id)).length);
    expect(await Promise.all(counts)).toEqual([1, 0, 0]);
  });
});

test("a dead receiver with thousands of events holds nobody up, and has one request at a time", async () => {
  const dead = using(await openRawReceiver((socket) => void socket.resume()));
  const { id: deadId } = await addWebhook(dead.url);
  await enqueue(2_000);
  startWorker({ timing: { exchangeMs: 3_000 } });
  await expect.poll(() => outcomes.length).toBeGreaterThanOrEqual(DELIVERY_LIMITS.perTarget);
  await expect.poll(() => dead.open).toBe(1);
  const { receiver, webhookId } = await listen();
  const ids = await enqueue(50);
  await expect.poll(() => receiver.received.length, { interval: 10 }).toBe(50);
  // Deliveries from before them wait on.
  expect(new Set(await statesOf(deadId))).toEqual(new Set(["pending"]));
  expect(sorted(receiver.received)).toEqual(ids.sort());
  await expect.poll(() => statesOf(webhookId)).toEqual(ids.map(() => "delivered"));
  expect(dead.openMax).toBe(DELIVERY_LIMITS.perTarget);
  expect((await readWebhookBacklog(pg)).deliveries).toBe(2_050);
});

test("many slow receivers of one owner leave room for another's", async () => {
  const slow = using(await openRawReceiver((socket) => void socket.resume()));
  for (let nth = 0; nth < 20; nth += 1) await addWebhook(slow.url);
  await enqueue(10);
  startWorker({ timing: { exchangeMs: 2_000 } });
  await expect.poll(() => slow.open).toBeGreaterThanOrEqual(20);
  await expect.poll(() => outcomes.length).toBeGreaterThan(0);
  expect(slow.openMax).toBe(DELIVERY_LIMITS.perOwner);
});

test("the organizations that one account made leave room for another's, as one owner does", async () => {
  const slow = using(await openRawReceiver((socket) => void socket.resume()));
  const account = await putAccount(pg);
  for (let nth = 0; nth < 40; nth += 1)
    await addWebhook(slow.url, { ownerId: await putOwner(pg, account), events: 8 });
  startWorker({ timing: { exchangeMs: 2_000 } });
  await expect.poll(() => outcomes.length).toBeGreaterThan(0);
  expect(slow.openMax).toBe(DELIVERY_LIMITS.perOwner);
});

test("webhooks of many owners that are failing leave room for others, however long each attempt takes", async () => {
  const dead = using(await openRawReceiver((socket) => void socket.resume()));
  for (let nth = 0; nth < 100; nth += 1)
    await addWebhook(dead.url, { ownerId: await putOwner(pg), events: 1 });
  await pg.query("update webhooks set failing_since = now()");
  startWorker({ timing: { exchangeMs: 20_000 } });
  await expect.poll(() => dead.open).toBe(DELIVERY_LIMITS.failingSlots);
  const { receiver } = await listen();
  for (let nth = 0; nth < 5; nth += 1) {
    await enqueue();
    await expect.poll(() => receiver.received.length, { interval: 10 }).toBe(nth + 1);
  }
  expect(dead.openMax).toBe(DELIVERY_LIMITS.failingSlots);
  await dead[Symbol.asyncDispose]();
});

test("an attempt that takes longer than a lease is not made twice", async () => {
  const { answer, release } = heldAnswer();
  const { receiver, webhookId } = await listen(answer);
  await enqueue();
  const timing = { exchangeMs: 20_000, leaseMs: 400 };
  for (let nth = 0; nth < 2; nth += 1) startWorker({ timing });
  const leases = new Set<string>();
  const text = "select next_attempt_at::text as lease from webhook_deliveries where claim is not null";
  const seen = async () => {
    const { rows } = await pg.query<{ lease: string }>(text);
    for (const { lease } of rows) leases.add(lease);
    return leases.size;
  };
  await expect.poll(seen, { interval: 20 }).toBeGreaterThan(6);
  release();
  await expect.poll(() => statesOf(webhookId)).toEqual(["delivered"]);
  expect(receiver.received).toHaveLength(1);
});

test("webhooks that are failing take turns, however many others are served", async () => {
  const failing: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) failing.push((await addWebhook("http://127.0.0.1:9/")).id);
  await pg.query("update webhooks set failing_since = now()");
  const live = await addWebhook("http://127.0.0.1:9/");
  await enqueue(20);
  const limits = { ...DELIVERY_LIMITS, failingSlots: 2, perTarget: 1, leaseMs: 15_000 };
  const served: string[] = [];
  let after: ServedLast = {};
  for (let round = 0; round < 5; round += 1) {
    const claimed = await claimItems<Claimed>(pg, DELIVERIES, { ...limits, after });
    after = servedLast(claimed, after);
    served.push(...claimed.map(({ targetId }) => targetId));
    const ended = claimed.map(({ id }) => id);
    await pg.query("update webhook_deliveries set state = 'failed' where id = any ($1)", [ended]);
  }
  const times = (id: string) => served.filter((each) => each === id).length;
  expect([...failing.map(times), times(live.id)]).toEqual([2, 2, 2, 2, 2, 5]);
});

test("several workers never send one delivery twice, and never more at once than one would", async () => {
  const receiver = using(await openReceiver((_, response) => void setTimeout(() => response.end(), 20)));
  const webhooks = [];
  for (let nth = 0; nth < 3; nth += 1) webhooks.push(await addWebhook(receiver.url));
  const ids = await enqueue(60);
  for (let nth = 0; nth < 4; nth += 1) startWorker();
  await expect.poll(() => outcomes.length).toBeGreaterThanOrEqual(180);
  for (const { id } of webhooks) await expect.poll(() => statesOf(id)).toEqual(ids.map(() => "delivered"));
  expect(sorted(receiver.received)).toEqual([...ids, ...ids, ...ids].sort());
  expect(receiver.openMax).toBeLessThanOrEqual(3 * DELIVERY_LIMITS.perTarget);
});

test("a delivery of a worker that died is sent by another once its lease is over, not before", async () => {
  const { receiver, webhookId } = await listen();
  const [id] = await enqueue();
  const text = `update webhook_deliveries set claim = gen_random_uuid(), next_attempt_at = now() + interval '1.5 seconds'`;
  const begun = performance.now();
  await pg.query(text);
  startWorker();
  await expect.poll(() => receiver.received.length, { interval: 10 }).toBe(1);
  expect(performance.now() - begun).toBeGreaterThan(1_300);
  expect(receiver.received[0]?.id).toBe(id);
  await expect.poll(() => statesOf(webhookId)).toEqual(["delivered"]);
});

test("a worker that is stopped finishes what it sends, and writes down what came of it", async () => {
  const { answer, release } = heldAnswer();
  const { receiver, webhookId } = await listen(answer);
  await enqueue(10);
  const worker = startWorker({ timing: { exchangeMs: 20_000 } });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  const stopped = worker[Symbol.asyncDispose]();
  release();
  await stopped;
  const { length } = receiver.received;
  const states = await statesOf(webhookId);
  expect(states.filter((state) => state === "delivered")).toHaveLength(length);
  expect(length).toBeLessThan(10);
});

test("for a day after a rotation both secrets verify, then the new one alone", async () => {
  const { receiver, webhookId: id, secret: old } = await listen();
  const secret = issueWebhookSecret();
  await updateWebhookSecret(pg, { id, secret: SEALER.seal(secret, id) });
  const start = Date.now();
  for (const at of [start + 5_000, start + 86_000_000, start + 86_460_000]) {
    const worker = startWorker({ now: () => new Date(at) });
    const [event] = await enqueue();
    await expect.poll(() => receiver.received.at(-1)?.id).toBe(event);
    await worker[Symbol.asyncDispose]();
  }
  const signatures = receiver.received.map(({ headers }) =>
    String(headers["x-service-signature"]).split(",v1=").slice(1),
  );
  expect(signatures.map(({ length }) => length)).toEqual([2, 2, 1]);
  const [first] = receiver.received;
  for (const each of [secret, old])
    new Webhook(each).verify(first?.body ?? "", first?.headers as Record<string, string>);
});

test("a cancelled delivery is not sent, and one that arrived all the same is said to have", async () => {
  const { answer, release } = heldAnswer();
  const { receiver, webhookId } = await listen(answer);
  await enqueue(10);
  startWorker({ timing: { exchangeMs: 20_000 } });
  await expect.poll(() => receiver.received.length).toBe(DELIVERY_LIMITS.perTarget);
  await cancelWebhookDeliveries(pg, [webhookId]);
  release();
  await expect.poll(() => outcomes.length).toBe(DELIVERY_LIMITS.perTarget);
  const cancelled = Array<string>(10 - DELIVERY_LIMITS.perTarget).fill("cancelled");
  const delivered = Array<string>(DELIVERY_LIMITS.perTarget).fill("delivered");
  await expect.poll(() => statesOf(webhookId)).toEqual([...cancelled, ...delivered]);
  expect(receiver.received).toHaveLength(DELIVERY_LIMITS.perTarget);
});

test("a redelivery has the id and body that it had, and a fresh signature", async () => {
  const { receiver, webhookId, secret } = await listen((_, response) => void response.writeHead(503).end());
  await enqueue();
  let time = Date.now() + 5_000;
  startWorker({ now: () => new Date(time) });
  await expect.poll(() => statesOf(webhookId)).toEqual(["failed"]);
  const [delivery] = await deliveriesTo(webhookId);
  time += 60_000;
  expect(await restartWebhookDelivery(pg, delivery?.id ?? "")).toBe(true);
  expect(await restartWebhookDelivery(pg, delivery?.id ?? "")).toBe(false);
  await expect.poll(async () => (await deliveriesTo(webhookId))[0]?.attempts.length).toBe(2);
  const [first, second] = receiver.received;
  expect(second?.body).toEqual(first?.body);
  expect(second?.id).toBe(first?.id);
  expect(Number(second?.headers["webhook-timestamp"]) - Number(first?.headers["webhook-timestamp"])).toBe(60);
  readAnnouncement(second as Received, secret);
});

describe("a webhook to which nothing could be delivered", () => {
  /** One delivery that fails at each of these hours after the first. */
  async function failAt(hours: readonly number[], { but = NaN } = {}) {
    let time = 0;
    const status = () => (time === start + but * 3_600_000 ? 200 : 500);
    const { webhookId } = await listen((_, response) => void response.writeHead(status()).end());
    const start = Date.parse("2100-01-01T12:00:00Z");
    const disabled: string[] = [];
    startWorker({ now: () => new Date(time), onDisabled: ({ id }) => disabled.push(id) });
    for (const hour of hours) {
      time = start + hour * 3_600_000;
      await enqueue();
      await expect.poll(async () => (await statesOf(webhookId)).includes("pending")).toBe(false);
    }
    return { webhookId, disabled, record: await readWebhook(pg, { ownerId, id: webhookId }) };
  }

  test("for three days running is disabled, with a reason in its record and in the audit log", async () => {
    const { webhookId, disabled, record } = await failAt([0, 24, 48, 72]);
    expect(disabled).toEqual([webhookId]);
    const reason = "No event could be delivered for three days.";
    expect(record).toMatchObject({ enabled: false, disabled_reason: reason });
    const { rows } = await pg.query(
      "select action, target_id, changes, account_id from audit_entries where owner_id = $1",
      [ownerId],
    );
    expect(rows).toEqual([
      {
        action: "webhooks.disable-failing",
        target_id: webhookId,
        changes: { enabled: false, disabled_reason: reason },
        account_id: null,
      },
    ]);
    await enqueue();
    expect(await statesOf(webhookId)).toHaveLength(4);
  });

  test.each([
    ["for less than three days", [0, 24, 48, 71.9], {}],
    ["twice, days apart", [0, 96], {}],
    ["but once in between", [0, 24, 48, 60, 72, 96], { but: 60 }],
  ])("%s stays enabled", async (_, hours, between) => {
    expect((await failAt(hours, between)).record?.enabled).toBe(true);
  });

  test("is disabled without blocking a change of it at that moment", async () => {
    const { receiver, webhookId: id } = await listen((_, response) => void response.writeHead(500).end());
    await pg.query(
      "update webhooks set failed_days = 3, failing_since = now() - interval '4 days', failed_on = now()",
    );
    await enqueue();
    const failures: unknown[] = [];
    await inTransaction(pg, async (client) => {
      await lockOwner(client, "acme");
      startWorker({ onFailure: (error) => failures.push(error) });
      await expect.poll(() => outcomes.length).toBe(1);
      await pause(100);
      const webhook = { url: receiver.url, event_kinds: [STAGE_CHANGED], enabled: true };
      await updateWebhook(client, { id, webhook });
    });
    const isEnabled = async () => (await readWebhook(pg, { ownerId, id }))?.enabled;
    await expect.poll(isEnabled).toBe(false);
    expect(failures).toEqual([]);
  });
});

test("the delivery log is kept for 30 days", async () => {
  const { webhookId } = await listen();
  await enqueue(3);
  startWorker();
  await expect.poll(() => statesOf(webhookId)).toEqual(["delivered", "delivered", "delivered"]);
  await pg.query(
    "delete from webhook_events e where not exists (select from webhook_deliveries where event_id = e.id)",
  );
  const [newest, middle, oldest] = await deliveriesTo(webhookId);
  const age = (id: string | undefined, days: number) =>
    pg.query(
      `with d as (
         update webhook_deliveries set created_at = now() - $2::float8 * interval '1 day',
           ended_at = now() - $2::float8 * interval '1 day' where id = $1 returning id, event_id),
       a as (update webhook_attempts set started_at = now() - $2::float8 * interval '1 day' where delivery_id = $1)
       update webhook_events set created_at = now() - $2::float8 * interval '1 day' where id = (select event_id from d)`,
      [id, days],
    );
  await age(oldest?.id, 30.1);
  await age(middle?.id, 29.9);
  expect(await deleteOldDeliveries(pg)).toEqual({ deliveries: 1, attempts: 1, events: 1 });
  const kept = await deliveriesTo(webhookId);
  expect(kept.map(({ id, attempts }) => [id, attempts.length])).toEqual([
    [newest?.id, 1],
    [middle?.id, 1],
  ]);
});
