import type { Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  REDELIVERIES_MAX,
  TESTS_MAX,
  webhookDeliveryRoutes,
} from "../../../../api/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../../api/webhooks/secret-routes.js";
import { DEFAULT_QUOTAS } from "../../../../api/access/quotas.js";
import { webhookRoutes } from "../../../../api/webhooks/webhook-routes.js";
import { insertAuditEntry } from "../../../../api/access/audit-entries.js";
import { deleteOldDeliveries } from "../../../../api/webhooks/webhook-deliveries.js";
import { enqueueWebhookEvent } from "../../../../api/webhooks/webhook-outbox.js";
import { type AddressGuard, createAddressGuard } from "../../../../api/outbound/guard-address.js";
import { sendRequest } from "../../../../api/outbound/send-request.js";
import { OPERATOR, SERVICE, type AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type {
  WebhookDeliveryRecord,
  WebhookTestResult,
} from "../../../../schemas/contracts/webhook-event.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { openGuard, SEALER } from "../../../support/api/delivery-world.js";
import { openReceiver, type Receiver } from "../../../support/api/receivers.js";
import { Webhook } from "standardwebhooks";
import { serveApi, type ServedApi } from "../../../support/api/management-api.js";
import { makeWorld, auditOf, TIMESTAMP, UUID, type World } from "../../../support/api/management-world.js";
import { api, as, postgres, useWorld, world } from "../../../support/api/use-world.js";

let pg: Pool;
/** As on the public internet; every name leads to `addresses`. */
let guarded: ServedApi;
let addresses: string[] = [];
let receiver: Receiver;

const KINDS = ["company-funnel-stage-changed"];

const routesWith = (pg: Pool, guard: AddressGuard) => {
  const deps = { pg, guard, sealer: SEALER };
  return [...webhookRoutes(deps), ...webhookSecretRoutes(deps), ...webhookDeliveryRoutes(deps)];
};

useWorld((opened) => ({ routes: routesWith(opened.pg, openGuard()) }));

beforeAll(async () => {
  ({ pg } = postgres);
  const guard = createAddressGuard({ allowPrivateNetworks: false }, async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
  );
  guarded = await serveApi({ pg, routes: routesWith(pg, guard) });
  receiver = await openReceiver();
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await guarded?.[Symbol.asyncDispose]();
});

afterEach(() => void (receiver.received.length = 0));

interface Created extends WebhookRecord {
  secret: string;
}

const pathOf = ({ organization }: World) => `/v2/${organization}/webhooks`;

/** `METHOD /path` below the path of the webhooks of the world. */
function call(request: string, body?: unknown) {
  const [method = "", below = ""] = request.split(" ");
  return as("admin", `${method} ${pathOf(world)}${below}`, body);
}

const create = async (url = receiver.url) =>
  (await call("POST ", { url, event_kinds: KINDS })).body as Created;

const deliveriesOf = async (id: string) =>
  ((await call(`GET /${id}/deliveries`)).body as { deliveries: WebhookDeliveryRecord[] }).deliveries;

/** What the receiver was sent first, as a webhook with that secret verifies it. */
function verified(secret: string) {
  const [got] = receiver.received;
  return new Webhook(secret).verify(got?.body ?? "", got?.headers as Record<string, string>);
}

async function enqueue(): Promise<void> {
  const { rows } = await pg.query<{ id: string }>("select id from owners where name = $1", [
    world.organization,
  ]);
  const ownerId = rows[0]?.id ?? "";
  await enqueueWebhookEvent(pg, {
    ownerId,
    type: "company-funnel-stage-changed",
    data: { companies: [] },
    createdAt: new Date(),
  });
}

const statesOf = (body: unknown) =>
  (body as { deliveries: WebhookDeliveryRecord[] }).deliveries.map(({ state }) => state);

describe("a webhook", () => {
  test("is created with a secret that is shown then, and never again", async () => {
    const answer = await call("POST ", { url: receiver.url, event_kinds: KINDS });
    const { secret, ...record } = answer.body as Created;
    expect(answer.status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(record).toEqual({
      id: expect.stringMatching(UUID) as string,
      owner: world.organization,
      url: receiver.url,
      event_kinds: KINDS,
      enabled: true,
      created_at: expect.stringMatching(TIMESTAMP) as string,
      updated_at: expect.stringMatching(TIMESTAMP) as string,
    });
    expect(answer.headers.get("location")).toBe(`${api.url}${pathOf(world)}/${record.id}`);
    expect((await call(`GET /${record.id}`)).body).toEqual(record);
    expect((await call("GET ")).body).toMatchObject({ webhooks: [record] });
  });

  test("keeps its secret sealed, for itself alone", async () => {
    const { id, secret } = await create();
    const { rows } = await pg.query<{ secret: Buffer }>("select secret from webhooks where id = $1", [id]);
    const sealed = rows[0]?.secret ?? Buffer.alloc(0);
    expect(sealed.includes(secret.slice(6))).toBe(false);
    expect(SEALER.open(sealed, id)).toBe(secret);
    expect(() => SEALER.open(sealed, "another")).toThrow();
  });

  test("is changed by what is said and stays as it was in the rest", async () => {
    const { id, secret: _, ...made } = await create();
    const disabled = await call(`PUT /${id}`, { enabled: false });
    expect(disabled.body).toMatchObject({ ...made, enabled: false, updated_at: expect.anything() as string });
    const moved = await call(`PUT /${id}`, { url: `${receiver.url}/2`, event_kinds: [...KINDS, "test"] });
    expect(moved.body).toMatchObject({
      url: `${receiver.url}/2`,
      event_kinds: [...KINDS, "test"],
      enabled: false,
    });
  });

  test("is sent nothing while disabled, nor later what waited or came meanwhile", async () => {
    const { id } = await create();
    await enqueue();
    await call(`PUT /${id}`, { enabled: false });
    await enqueue();
    expect(statesOf((await call(`GET /${id}/deliveries`)).body)).toEqual(["cancelled"]);
    // As if the second had been on its way into the outbox when the webhook was disabled.
    await pg.query("update webhook_deliveries set state = 'pending' where webhook_id = $1", [id]);
    await call(`PUT /${id}`, { enabled: true });
    await enqueue();
    expect(statesOf((await call(`GET /${id}/deliveries`)).body)).toEqual(["pending", "cancelled"]);
  });

  test("that the service disabled is as good as new when it is enabled", async () => {
    const { id } = await create();
    await pg.query(
      `update webhooks set enabled = false, disabled_reason = 'Nothing could be delivered.', failed_days = 3,
         failing_since = now() - interval '3 days' where id = $1`,
      [id],
    );
    expect((await call(`GET /${id}`)).body).toMatchObject({ disabled_reason: "Nothing could be delivered." });
    expect((await call(`PUT /${id}`, { enabled: true })).body).not.toHaveProperty("disabled_reason");
    const { rows } = await pg.query("select failing_since, failed_days from webhooks where id = $1", [id]);
    expect(rows).toEqual([{ failing_since: null, failed_days: 0 }]);
  });

  test("is deleted with its log", async () => {
    const { id } = await create();
    await enqueue();
    expect((await call(`DELETE /${id}`)).status).toBe(204);
    expect((await call(`GET /${id}`)).status).toBe(404);
    const { rows } = await pg.query("select from webhook_deliveries where webhook_id = $1", [id]);
    expect(rows).toEqual([]);
  });

  test("is not there for another owner", async () => {
    const { id } = await create();
    const { organization, tokens } = await makeWorld(api, pg);
    const path = `/v2/${organization}/webhooks`;
    const requests = [`GET /${id}`, `DELETE /${id}`, `POST /${id}/test`, `GET /${id}/deliveries`, "GET /1"];
    for (const request of requests)
      expect((await api.call(tokens.admin, request.replace(" ", ` ${path}`))).status).toBe(404);
  });

  test(`is one of ${DEFAULT_QUOTAS.webhooks} at most`, async () => {
    await Promise.all(Array.from({ length: DEFAULT_QUOTAS.webhooks }, () => create()));
    const refused = await call("POST ", { url: receiver.url, event_kinds: KINDS });
    expect([refused.status, refused.body]).toMatchObject([422, { code: "too-many-webhooks" }]);
  });

  test("is listed in pages", async () => {
    const ids = [(await create()).id, (await create()).id, (await create()).id];
    const first = (await call("GET ?per_page=2")).body as { webhooks: WebhookRecord[]; next: string };
    expect(first.webhooks.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const next = await api.call(world.tokens.owner, `GET ${first.next.slice(api.url.length)}`);
    expect((next.body as typeof first).webhooks.map(({ id }) => id)).toEqual([ids[0]]);
    expect(next.body).not.toHaveProperty("next");
  });

  test("is as it was after a PUT of nothing", async () => {
    const { id } = await create();
    const before = (await call(`GET /${id}`)).body;
    expect(await call(`PUT /${id}`, {})).toMatchObject({ status: 200, body: before });
  });

  test.each([
    ["another URL", { url: "http://127.0.0.1:59999/" }, { failing: false, days: 0 }],
    ["the same URL", { enabled: true }, { failing: true, days: 2 }],
  ])("with %s is judged by what that receiver does", async (_, sent, expected) => {
    const { id } = await create();
    await pg.query("update webhooks set failing_since = now(), failed_days = 2 where id = $1", [id]);
    expect((await call(`PUT /${id}`, sent)).status).toBe(200);
    const text =
      "select failing_since is not null as failing, failed_days as days from webhooks where id = $1";
    expect((await pg.query(text, [id])).rows).toEqual([expected]);
  });

  test("leaves every change in the audit log, without secrets", async () => {
    const { id, url } = await create();
    await call(`PUT /${id}`, { enabled: false });
    await call(`POST /${id}/rotate-secret`);
    await call(`DELETE /${id}/old-secret`);
    await call(`DELETE /${id}/old-secret`);
    await call(`POST /${id}/test`);
    await call(`DELETE /${id}`);
    const entries = await auditOf(pg, { owner: world.organization, kind: "webhook" });
    expect(entries.map(({ changes }) => changes)).toEqual([
      { url, event_kinds: KINDS },
      { enabled: false, updated_at: expect.anything() as string },
      { secret: "rotated" },
      { old_secret: "ended" },
      { test: true },
      { deleted: true },
    ]);
    expect(entries.every(({ action, name }) => action === "webhooks.manage" && name === url)).toBe(true);
    expect(JSON.stringify(entries)).not.toContain("whsec_");
  });
});

test("the audit log tells what the service did by itself from what an operator did", async () => {
  const { id, url } = await create();
  const { rows } = await pg.query<{ id: string }>("select owner_id as id from webhooks where id = $1", [id]);
  const target = { kind: "webhook", id, name: url } as const;
  const entry = { ownerId: rows[0]?.id ?? "", target };
  await insertAuditEntry(pg, { ...entry, by: SERVICE, action: "webhooks.disable-failing" });
  await insertAuditEntry(pg, { ...entry, by: OPERATOR, action: "export.grant" });
  const read = async (actor: string) => {
    const path = `/v2/${world.organization}/audit?actor=${actor}`;
    const { body } = await api.call(world.tokens.admin, `GET ${path}`);
    return (body as { audit_entries: AuditEntryRecord[] }).audit_entries.map((each) => [
      each.actor,
      each.action,
    ]);
  };
  expect(await read(SERVICE)).toEqual([[SERVICE, "webhooks.disable-failing"]]);
  expect(await read(OPERATOR)).toEqual([[OPERATOR, "export.grant"]]);
});

describe("on the public internet, a webhook", () => {
  const NOT_ALLOWED = { status: 422, body: { code: "webhook-url-not-allowed" } };

  test.each([
    ["http://127.0.0.1/", [], true],
    ["http://0x7f.1/", [], true],
    ["http://localhost:8080/", [], true],
    ["http://ada:secret@hooks.example.org/", ["93.184.216.34"], false],
    ["https://hooks.example.org:22/", ["93.184.216.34"], true],
    ["https://hooks.example.org/", ["10.0.0.1"], true],
    ["https://hooks.example.org/", ["93.184.216.34", "::1"], true],
    ["nonsense", [], false],
  ])("may not lead to %s when that is at %j", async (url, resolved, isInside) => {
    const { id } = await create();
    addresses = resolved;
    const { admin } = world.tokens;
    const created = await guarded.call(admin, `POST ${pathOf(world)}`, { url, event_kinds: KINDS });
    expect(created).toMatchObject(NOT_ALLOWED);
    const { message } = created.body as { message: string };
    expect(message.includes("WEBHOOK_ALLOW_PRIVATE_NETWORKS=true")).toBe(isInside);
    expect(await guarded.call(admin, `PUT ${pathOf(world)}/${id}`, { url })).toMatchObject(NOT_ALLOWED);
  });

  test("may lead to a name with public addresses, or with none yet", async () => {
    for (const resolved of [["93.184.216.34", "2606:4700:4700::1111"], []]) {
      addresses = resolved;
      const sent = { url: "https://hooks.example.org/", event_kinds: KINDS };
      expect((await guarded.call(world.tokens.admin, `POST ${pathOf(world)}`, sent)).status).toBe(201);
    }
  });

  test("that leads elsewhere since is not tested there", async () => {
    const { id } = await create(`http://hooks.example.org:${receiver.port}/`);
    addresses = ["127.0.0.1"];
    const { connections } = receiver;
    const { body } = await guarded.call(world.tokens.admin, `POST ${pathOf(world)}/${id}/test`);
    expect(body).toMatchObject({
      success: false,
      status: null,
      error: expect.stringContaining("must not lead") as string,
    });
    expect(receiver.connections).toBe(connections);
  });
});

describe("a test", () => {
  test("sends a signed event to a webhook, also to a disabled one, and says what came of it", async () => {
    const { id, secret } = await create();
    await call(`PUT /${id}`, { enabled: false });
    const answer = await call(`POST /${id}/test`);
    expect(answer.status).toBe(200);
    const { duration_ms: durationMs, ...result } = answer.body as WebhookTestResult;
    expect(result).toEqual({ success: true, status: 200, response_body: "thank you" });
    expect(Number.isInteger(durationMs)).toBe(true);
    expect(verified(secret)).toEqual({
      id: receiver.received[0]?.id,
      type: "test",
      owner: world.organization,
      created_at: expect.stringMatching(TIMESTAMP) as string,
      data: { message: `This is a test of the webhook ${id}.` },
    });
  });

  test("is in the delivery log, whatever came of it, and counts as no failure of the webhook", async () => {
    const { id } = await create();
    await call(`POST /${id}/test`);
    const unwilling = await openReceiver((_, response) => void response.writeHead(418).end("no"));
    await call(`PUT /${id}`, { url: unwilling.url });
    await call(`POST /${id}/test`);
    await unwilling[Symbol.asyncDispose]();
    expect(await deliveriesOf(id)).toMatchObject([
      { event_type: "test", state: "failed", attempts: [{ status: 418, response_body: "no" }] },
      { event_type: "test", state: "delivered", attempts: [{ status: 200, response_body: "thank you" }] },
    ]);
    const text = "select failing_since from webhooks where id = $1";
    expect((await pg.query(text, [id])).rows).toEqual([{ failing_since: null }]);
  });

  test("says what a receiver answers who does not want it, at most 2048 bytes of it", async () => {
    const unwilling = await openReceiver(
      (_, response) => void response.writeHead(418).end("größe ".repeat(1_000)),
    );
    const { id } = await create(unwilling.url);
    const { body } = await call(`POST /${id}/test`);
    const result = body as WebhookTestResult;
    expect(result).toMatchObject({ success: false, status: 418 });
    expect(result).not.toHaveProperty("error");
    expect(Buffer.byteLength(result.response_body)).toBeGreaterThan(2_040);
    expect(Buffer.byteLength(result.response_body)).toBeLessThanOrEqual(2_048);
    await unwilling[Symbol.asyncDispose]();
    const refused = (await call(`POST /${id}/test`)).body;
    expect(refused).toMatchObject({
      success: false,
      status: null,
      response_body: "",
      error: expect.stringContaining("ECONNREFUSED") as string,
    });
  });

  test(`is made ${TESTS_MAX} times a minute at most`, async () => {
    const { id } = await create();
    const made = await Promise.all(Array.from({ length: TESTS_MAX + 1 }, () => call(`POST /${id}/test`)));
    const refused = made.filter(({ status }) => status !== 200);
    expect(refused).toMatchObject([{ status: 429, body: { code: "rate-limited" } }]);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("a rotation answers the new secret, and keeps the old one for a day", async () => {
  const { id, secret: old } = await create();
  const { secret, old_secret_until: until } = (await call(`POST /${id}/rotate-secret`)).body as Created;
  expect(secret).not.toBe(old);
  expect(until).toMatch(TIMESTAMP);
  await call(`POST /${id}/test`);
  const [got] = receiver.received;
  const header = String(got?.headers["x-service-signature"]);
  expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  for (const each of [old, secret]) verified(each);
});

test("an old secret ends at once when asked to, however often", async () => {
  const { id } = await create();
  const end = async () => (await call(`DELETE /${id}/old-secret`)).status;
  expect(await end()).toBe(204);
  const { secret } = (await call(`POST /${id}/rotate-secret`)).body as Created;
  expect([await end(), await end()]).toEqual([204, 204]);
  expect((await call(`GET /${id}`)).body).not.toHaveProperty("old_secret_until");
  await call(`POST /${id}/test`);
  const [got] = receiver.received;
  expect(String(got?.headers["x-service-signature"])).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
  verified(secret);
  const text = "select old_secret is null as erased from webhooks where id = $1";
  expect((await pg.query(text, [id])).rows).toEqual([{ erased: true }]);
});

test("an old secret is erased when it is valid no longer", async () => {
  const [valid, expired] = [await create(), await create()];
  for (const { id } of [valid, expired]) await call(`POST /${id}/rotate-secret`);
  await pg.query("update webhooks set old_secret_until = now() where id = $1", [expired.id]);
  await deleteOldDeliveries(pg);
  const text = "select old_secret is not null as kept from webhooks where id = any ($1) order by id";
  const { rows } = await pg.query(text, [[valid.id, expired.id]]);
  expect(rows).toEqual([{ kept: true }, { kept: false }]);
});

test("why no answer came is said in 500 characters at most, whole ones", async () => {
  const guard = openGuard(() => Promise.reject(new Error("🦀".repeat(1_000))));
  const sent = { url: "http://hooks.example.org/", headers: {}, body: Buffer.from("{}") };
  const { error = "" } = await sendRequest(sent, { guard });
  expect([...error]).toHaveLength(500);
  expect(error).toMatch(/🦀…$/u);
});

describe("the delivery log", () => {
  const COUNT = 120;

  test("is narrowed to deliveries of one state, and the list of webhooks counts those of the last day", async () => {
    const { id } = await create();
    for (const _ of [1, 2, 3]) await enqueue();
    await call(`POST /${id}/test`);
    await pg.query(
      `update webhook_deliveries set state = 'failed', created_at = now() - $2::float8 * interval '1 hour'
       where id = (select max(id::text)::uuid from webhook_deliveries where webhook_id = $1 and state = 'pending')`,
      [id, 25],
    );
    const of = async (state: string) => statesOf((await call(`GET /${id}/deliveries?state=${state}`)).body);
    expect(await of("pending")).toEqual(["pending", "pending"]);
    expect(await of("failed")).toEqual(["failed"]);
    expect(await of("delivered")).toEqual(["delivered"]);
    expect((await call(`GET /${id}/deliveries?state=pending&per_page=1`)).body).toHaveProperty("next");
    expect((await call(`GET /${id}/deliveries?state=failed&per_page=1`)).body).not.toHaveProperty("next");
    expect((await call(`GET /${id}/deliveries?state=succeeded`)).body).toMatchObject({
      code: "invalid-query",
    });
    expect((await call("GET ")).body).toMatchObject({
      webhooks: [{ id, last_24_hours: { pending: 2, delivered: 1, failed: 0, cancelled: 0 } }],
    });
  });

  test("is listed in pages of a few megabytes, whatever receivers answered, and whole", async () => {
    const { id } = await create();
    await pg.query(
      `with event as (
         insert into webhook_events (id, owner_id, type, body)
         select gen_random_uuid(), owner_id, 'company-funnel-stage-changed', '' from webhooks, generate_series(1, $2)
         where webhooks.id = $1 returning id),
       delivery as (
         insert into webhook_deliveries (id, event_id, webhook_id, state, ended_at)
         select gen_random_uuid(), id, $1, 'delivered', now() from event returning id)
       insert into webhook_attempts (id, delivery_id, started_at, duration_ms, status, response_body)
       select gen_random_uuid(), id, now(), 1, 200, repeat(U&'\\0001', 2048) from delivery, generate_series(1, 20)`,
      [id, COUNT],
    );
    const sizes: number[] = [];
    const seen: string[] = [];
    let next: string | undefined = `/v2/${world.organization}/webhooks/${id}/deliveries?per_page=1000`;
    for (let pages = 0; next !== undefined && pages < COUNT; pages += 1) {
      const answer = await api.call(world.tokens.admin, `GET ${next}`);
      const body = answer.body as { deliveries: WebhookDeliveryRecord[]; next?: string };
      sizes.push(JSON.stringify(body).length);
      seen.push(...body.deliveries.map((each) => each.id));
      expect(body.deliveries.every(({ attempts }) => attempts.length === 20)).toBe(true);
      expect(new URL(body.next ?? "http://a/?per_page=1000").searchParams.get("per_page")).toBe("1000");
      next = body.next?.slice(api.url.length);
    }
    expect(Math.max(...sizes)).toBeLessThan(16 * 1024 * 1024);
    expect(sizes.length).toBeGreaterThan(1);
    expect([seen.length, new Set(seen).size, next]).toEqual([COUNT, COUNT, undefined]);
    expect(seen).toEqual(seen.toSorted().toReversed());
    const whole = (await call(`GET /${id}/deliveries?per_page=3`)).body as { deliveries: object[] };
    expect(whole.deliveries).toHaveLength(3);
  });
});

describe("a redelivery", () => {
  test(`is asked for ${REDELIVERIES_MAX} times a minute at most`, async () => {
    const { id } = await create();
    await enqueue();
    const [delivery] = await deliveriesOf(id);
    const statuses: number[] = [];
    for (let asked = 0; asked <= REDELIVERIES_MAX; asked += 1) {
      await pg.query("update webhook_deliveries set state = 'failed', ended_at = now()");
      statuses.push((await call(`POST /${id}/deliveries/${delivery?.id}/redeliver`)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: REDELIVERIES_MAX }, () => 200), 429]);
  });

  test("begins a delivery again that has ended, and is refused for any other", async () => {
    const { id } = await create();
    await enqueue();
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toEqual({
      id: expect.stringMatching(UUID) as string,
      event_id: expect.stringMatching(UUID) as string,
      event_type: "company-funnel-stage-changed",
      state: "pending",
      attempts: [],
      created_at: expect.stringMatching(TIMESTAMP) as string,
      next_attempt_at: expect.stringMatching(TIMESTAMP) as string,
    });
    const path = `POST /${id}/deliveries/${delivery?.id}/redeliver`;
    expect(await call(path)).toMatchObject({ status: 409, body: { code: "delivery-in-progress" } });
    await pg.query("update webhook_deliveries set state = 'failed', ended_at = now()");
    expect(await call(path)).toMatchObject({ status: 200, body: { id: delivery?.id, state: "pending" } });
    await call(`PUT /${id}`, { enabled: false });
    expect(await call(path)).toMatchObject({ status: 409, body: { code: "webhook-disabled" } });
    expect(await auditOf(pg, { owner: world.organization, kind: "delivery" })).toHaveLength(1);
  });

  test("is not found for an event that the webhook was not sent", async () => {
    const [one, other] = [await create(), await create()];
    await enqueue();
    const [delivery] = await deliveriesOf(one.id);
    expect((await call(`POST /${other.id}/deliveries/${delivery?.id}/redeliver`)).status).toBe(404);
    expect((await call(`POST /${one.id}/deliveries/1/redeliver`)).status).toBe(404);
  });
});
