import type { Pool } from "pg";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { insertAuditEntry } from "../../../../api/base/access/audit-entries.js";
import { type AddressGuard, createAddressGuard } from "../../../../api/base/outbound/guard-address.js";
import { sendRequest } from "../../../../api/base/outbound/send-request.js";
import {
  REDELIVERIES_MAX,
  TESTS_MAX,
  webhookDeliveryRoutes,
} from "../../../../api/features/webhooks/delivery-routes.js";
import { webhookSecretRoutes } from "../../../../api/features/webhooks/secret-routes.js";
import { deleteOldDeliveries } from "../../../../api/features/webhooks/webhook-deliveries.js";
import { enqueueWebhookEvent } from "../../../../api/base/outbox/webhook-outbox.js";
import { webhookRoutes } from "../../../../api/features/webhooks/webhook-routes.js";
import { OPERATOR, SERVICE, type AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type {
  WebhookDeliveryRecord,
  WebhookTestResult,
} from "../../../../schemas/contracts/webhook-event.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import { eventOf, openGuard, SEALER, STAGE_CHANGED } from "../../../support/api/delivery-world.js";
import { serveApi, type ServedApi } from "../../../support/api/management-api.js";
import { auditOf, TIMESTAMP, UUID } from "../../../support/api/management-world.js";
import { openReceiver, readAnnouncement, type Receiver } from "../../../support/api/receivers.js";
import { api, as, postgres, refused, useWorld, world } from "../../../support/api/use-world.js";

interface Created extends WebhookRecord {
  secret: string;
}

/** As on the public internet; every name leads to `addresses`. */
let guarded: ServedApi;
let addresses: string[] = [];
let receiver: Receiver;
/** The webhook of the test that runs, to the receiver, and the id of its owner. */
let made: Created;
let ownerId: string;

const KINDS = [STAGE_CHANGED];

const routesWith = (pg: Pool, guard: AddressGuard) => {
  const deps = { pg, guard, sealer: SEALER };
  return [...webhookRoutes(deps), ...webhookSecretRoutes(deps), ...webhookDeliveryRoutes(deps)];
};

useWorld((opened) => ({ routes: routesWith(opened.pg, openGuard()) }));

beforeAll(async () => {
  const { pg } = postgres;
  const guard = createAddressGuard({ allowPrivateNetworks: false }, async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
  );
  guarded = await serveApi({ pg, routes: routesWith(pg, guard) });
  receiver = await openReceiver();
});

beforeEach(async () => {
  made = await create();
  ownerId =
    (await query<{ owner_id: string }>("select owner_id from webhooks where id = $1"))[0]?.owner_id ?? "";
});

afterEach(() => void (receiver.received.length = 0));

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await guarded?.[Symbol.asyncDispose]();
});

const pathOf = ({ organization } = world) => `/v2/${organization}/webhooks`;

/** `METHOD /path` below the path of the webhooks of the world. */
function call(request: string, body?: unknown, by: ServedApi = api) {
  const [method = "", below = ""] = request.split(" ");
  return by.call(world.tokens.admin, `${method} ${pathOf()}${below}`, body);
}

/** `METHOD /path` below the path of the webhook of the test. */
const on = (request: string, body?: unknown, by: ServedApi = api) =>
  call(request.replace(/ |$/, ` /${made.id}`), body, by);

const create = async (url = receiver.url) =>
  (await call("POST ", { url, event_kinds: KINDS })).body as Created;

/** Answers rows about the webhook of the test, whose id is the first parameter. */
const query = async <Row extends object>(text: string, ...more: unknown[]) =>
  (await postgres.pg.query<Row>(text, [made.id, ...more])).rows;

const deliveriesOf = async (search = "") =>
  ((await on(`GET /deliveries${search}`)).body as { deliveries: WebhookDeliveryRecord[] }).deliveries;
const statesOf = async (search = "") => (await deliveriesOf(search)).map(({ state }) => state);

const enqueue = () => enqueueWebhookEvent(postgres.pg, eventOf(ownerId));
const endAll = () => postgres.pg.query("update webhook_deliveries set state = 'failed', ended_at = now()");

/** Throws unless the first request to the receiver is signed with both. */
function expectSigned(secrets: string[]) {
  const [got] = receiver.received;
  const parts = secrets.map(() => ",v1=[0-9a-f]{64}").join("");
  expect(got?.headers["x-service-signature"]).toMatch(new RegExp(`^t=\\d{10}${parts}$`));
  for (const secret of secrets)
    new Webhook(secret).verify(got?.body ?? "", got?.headers as Record<string, string>);
}

describe("a webhook", () => {
  test("keeps its secret sealed, for itself alone", async () => {
    const { id, secret } = made;
    const [row] = await query<{ secret: Buffer }>("select secret from webhooks where id = $1");
    const sealed = row?.secret ?? Buffer.alloc(0);
    expect(sealed.includes(secret.slice(6))).toBe(false);
    expect(SEALER.open(sealed, id)).toBe(secret);
    expect(() => SEALER.open(sealed, "another")).toThrow();
  });

  test("is changed by what is said and stays as it was in the rest", async () => {
    const { secret: _, ...before } = made;
    expect(await on("PUT", {})).toMatchObject({ status: 200, body: before });
    const disabled = await on("PUT", { enabled: false });
    expect(disabled.body).toMatchObject({
      ...before,
      enabled: false,
      updated_at: expect.anything() as string,
    });
    const change = { url: `${receiver.url}/2`, event_kinds: [...KINDS, "test"] };
    expect((await on("PUT", change)).body).toMatchObject({ ...change, enabled: false });
  });

  test("is sent nothing while disabled, nor later what waited or came meanwhile", async () => {
    await enqueue();
    await on("PUT", { enabled: false });
    await enqueue();
    expect(await statesOf()).toEqual(["cancelled"]);
    // As if the second had been on its way into the outbox when the webhook was disabled.
    await query("update webhook_deliveries set state = 'pending' where webhook_id = $1");
    await on("PUT", { enabled: true });
    await enqueue();
    expect(await statesOf()).toEqual(["pending", "cancelled"]);
  });

  test("that the service disabled is as good as new when it is enabled", async () => {
    await query(
      `update webhooks set enabled = false, disabled_reason = 'Nothing could be delivered.', failed_days = 3,
         failing_since = now() - interval '3 days' where id = $1`,
    );
    expect((await on("GET")).body).toMatchObject({ disabled_reason: "Nothing could be delivered." });
    expect((await on("PUT", { enabled: true })).body).not.toHaveProperty("disabled_reason");
    expect(await query("select failing_since, failed_days from webhooks where id = $1")).toEqual([
      { failing_since: null, failed_days: 0 },
    ]);
  });

  test("is deleted with its log", async () => {
    await enqueue();
    expect((await on("DELETE")).status).toBe(204);
    expect((await on("GET")).status).toBe(404);
    expect(await query("select from webhook_deliveries where webhook_id = $1")).toEqual([]);
  });

  test.each([
    ["another URL", { url: "http://127.0.0.1:59999/" }, { failing: false, days: 0 }],
    ["the same URL", { enabled: true }, { failing: true, days: 2 }],
  ])("with %s is judged by what that receiver does", async (_, sent, expected) => {
    await query("update webhooks set failing_since = now(), failed_days = 2 where id = $1");
    expect((await on("PUT", sent)).status).toBe(200);
    const text =
      "select failing_since is not null as failing, failed_days as days from webhooks where id = $1";
    expect(await query(text)).toEqual([expected]);
  });

  test("leaves every change in the audit log, without secrets", async () => {
    const { url } = made;
    await on("PUT", { enabled: false });
    for (const request of ["POST /rotate-secret", "DELETE /old-secret", "DELETE /old-secret", "POST /test"])
      await on(request);
    await on("DELETE");
    const entries = await auditOf(postgres.pg, { owner: world.organization, kind: "webhook" });
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
  const entry = { ownerId, target: { kind: "webhook", id: made.id, name: made.url } } as const;
  for (const [by, action] of [
    [SERVICE, "webhooks.disable-failing"],
    [OPERATOR, "export.grant"],
  ] as const) {
    await insertAuditEntry(postgres.pg, { ...entry, by, action });
    const { body } = await as("admin", `GET /v2/${world.organization}/audit?actor=${by}`);
    const { audit_entries: entries } = body as { audit_entries: AuditEntryRecord[] };
    expect(entries.map((each) => [each.actor, each.action])).toEqual([[by, action]]);
  }
});

describe("on the public internet, a webhook", () => {
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
    addresses = resolved;
    const created = await call("POST ", { url, event_kinds: KINDS }, guarded);
    expect(created).toMatchObject(refused(422, "webhook-url-not-allowed"));
    const { message } = created.body as { message: string };
    expect(message.includes("WEBHOOK_ALLOW_PRIVATE_NETWORKS=true")).toBe(isInside);
    expect(await on("PUT", { url }, guarded)).toMatchObject(refused(422, "webhook-url-not-allowed"));
  });

  test.each([[["93.184.216.34", "2606:4700:4700::1111"]], [[]]])(
    "may lead to a name with the addresses %j",
    async (resolved) => {
      addresses = resolved;
      const sent = { url: "https://hooks.example.org/", event_kinds: KINDS };
      expect((await call("POST ", sent, guarded)).status).toBe(201);
    },
  );

  test("that leads elsewhere since is not tested there", async () => {
    const { id } = await create(`http://hooks.example.org:${receiver.port}/`);
    addresses = ["127.0.0.1"];
    const { connections } = receiver;
    expect((await call(`POST /${id}/test`, undefined, guarded)).body).toMatchObject({
      success: false,
      status: null,
      error: expect.stringContaining("must not point") as string,
    });
    expect(receiver.connections).toBe(connections);
  });
});

describe("a test", () => {
  /** Points the webhook to a receiver that does not want what comes. */
  async function refuseWith(text: string): Promise<Receiver> {
    const unwilling = await openReceiver((_, response) => void response.writeHead(418).end(text));
    await on("PUT", { url: unwilling.url });
    return unwilling;
  }

  test("sends a signed event to a webhook, also to a disabled one, and says what came of it", async () => {
    await on("PUT", { enabled: false });
    const answer = await on("POST /test");
    expect(answer.status).toBe(200);
    const { duration_ms: durationMs, ...result } = answer.body as WebhookTestResult;
    expect(result).toEqual({ success: true, status: 200, response_body: "thank you" });
    expect(Number.isInteger(durationMs)).toBe(true);
    const [got] = receiver.received;
    expect(got && readAnnouncement(got, made.secret)).toEqual({
      id: got?.id,
      type: "test",
      owner: world.organization,
      created_at: expect.stringMatching(TIMESTAMP) as string,
      data: { message: `This is a test of the webhook ${made.id}.` },
    });
  });

  test("is in the delivery log, whatever came of it, and counts as no failure of the webhook", async () => {
    await on("POST /test");
    await using _ = await refuseWith("no");
    await on("POST /test");
    expect(await deliveriesOf()).toMatchObject([
      { event_type: "test", state: "failed", attempts: [{ status: 418, response_body: "no" }] },
      { event_type: "test", state: "delivered", attempts: [{ status: 200, response_body: "thank you" }] },
    ]);
    expect(await query("select failing_since from webhooks where id = $1")).toEqual([
      { failing_since: null },
    ]);
  });

  test("says what a receiver answers who does not want it, at most 2048 bytes of it", async () => {
    const unwilling = await refuseWith("größe ".repeat(1_000));
    const result = (await on("POST /test")).body as WebhookTestResult;
    expect(result).toMatchObject({ success: false, status: 418 });
    expect(result).not.toHaveProperty("error");
    expect(Buffer.byteLength(result.response_body)).toBeGreaterThan(2_040);
    expect(Buffer.byteLength(result.response_body)).toBeLessThanOrEqual(2_048);
    await unwilling[Symbol.asyncDispose]();
    expect((await on("POST /test")).body).toMatchObject({
      success: false,
      status: null,
      response_body: "",
      error: expect.stringContaining("ECONNREFUSED") as string,
    });
  });

  test(`is made ${TESTS_MAX} times a minute at most`, async () => {
    const answers = await Promise.all(Array.from({ length: TESTS_MAX + 1 }, () => on("POST /test")));
    const late = answers.filter(({ status }) => status !== 200);
    expect(late).toMatchObject([refused(429, "rate-limited")]);
    expect(Number(late[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test(`is made ${TESTS_MAX} times a minute at most by one account, of however many organizations`, async () => {
    const statuses: number[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      const name = `${world.organization}-${nth}`;
      await as("admin", "POST /v1/organizations", { name, description: "", billingEmail: "a@acme.example" });
      const webhook = await as("admin", `POST /v2/${name}/webhooks`, {
        url: made.url,
        event_kinds: ["test"],
      });
      const { id } = webhook.body as Created;
      for (let time = 0; time < 8; time += 1)
        statuses.push((await as("admin", `POST /v2/${name}/webhooks/${id}/test`)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(TESTS_MAX);
    expect(statuses.filter((status) => status === 429)).toHaveLength(24 - TESTS_MAX);
  });
});

describe("an old secret", () => {
  test("is kept for a day after a rotation, which answers the new one", async () => {
    const { secret, old_secret_until: until } = (await on("POST /rotate-secret")).body as Created;
    expect(secret).not.toBe(made.secret);
    expect(until).toMatch(TIMESTAMP);
    await on("POST /test");
    expectSigned([secret, made.secret]);
  });

  test("ends at once when asked to, however often", async () => {
    const end = async () => (await on("DELETE /old-secret")).status;
    expect(await end()).toBe(204);
    const { secret } = (await on("POST /rotate-secret")).body as Created;
    expect([await end(), await end()]).toEqual([204, 204]);
    expect((await on("GET")).body).not.toHaveProperty("old_secret_until");
    await on("POST /test");
    expectSigned([secret]);
    expect(await query("select old_secret from webhooks where id = $1")).toEqual([{ old_secret: null }]);
  });

  test("is erased when it is valid no longer", async () => {
    const { id: expired } = await create();
    for (const id of [made.id, expired]) await call(`POST /${id}/rotate-secret`);
    await postgres.pg.query("update webhooks set old_secret_until = now() where id = $1", [expired]);
    await deleteOldDeliveries(postgres.pg);
    const text =
      "select old_secret is not null as kept from webhooks where id in ($1::uuid, $2::uuid) order by id";
    expect(await query(text, expired)).toEqual([{ kept: true }, { kept: false }]);
  });
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
    for (const _ of [1, 2, 3]) await enqueue();
    await on("POST /test");
    await query(
      `update webhook_deliveries set state = 'failed', created_at = now() - interval '25 hours'
       where id = (select max(id::text)::uuid from webhook_deliveries where webhook_id = $1 and state = 'pending')`,
    );
    expect(await statesOf("?state=pending")).toEqual(["pending", "pending"]);
    expect(await statesOf("?state=failed")).toEqual(["failed"]);
    expect(await statesOf("?state=delivered")).toEqual(["delivered"]);
    expect((await on("GET /deliveries?state=pending&per_page=1")).body).toHaveProperty("next");
    expect((await on("GET /deliveries?state=failed&per_page=1")).body).not.toHaveProperty("next");
    expect(await on("GET /deliveries?state=succeeded")).toMatchObject(refused(400, "invalid-query"));
    expect((await call("GET ")).body).toMatchObject({
      webhooks: [{ id: made.id, last_24_hours: { pending: 2, delivered: 1, failed: 0, cancelled: 0 } }],
    });
    const { body: day } = await on("GET /last-24-hours");
    expect(day).toEqual({
      ...{ pending: 2, delivered: 1, failed: 0, cancelled: 0, attempts: 1 },
      ...{ median_ms: expect.any(Number) as number, p95_ms: expect.any(Number) as number },
    });
  });

  test("is listed in pages of a few megabytes, whatever receivers answered, and whole", async () => {
    await query(
      `with event as (
         insert into webhook_events (id, owner_id, type, body)
         select gen_random_uuid(), owner_id, 'company-funnel-stage-changed', '' from webhooks, generate_series(1, $2)
         where webhooks.id = $1 returning id),
       delivery as (
         insert into webhook_deliveries (id, event_id, webhook_id, state, ended_at)
         select gen_random_uuid(), id, $1, 'delivered', now() from event returning id)
       insert into webhook_attempts (id, delivery_id, started_at, duration_ms, status, response_body)
       select gen_random_uuid(), id, now(), 1, 200, repeat(U&'\\0001', 2048) from delivery, generate_series(1, 20)`,
      COUNT,
    );
    const sizes: number[] = [];
    const seen: string[] = [];
    let next: string | undefined = `${pathOf()}/${made.id}/deliveries?per_page=1000`;
    for (let pages = 0; next !== undefined && pages < COUNT; pages += 1) {
      const answer = await as("admin", `GET ${next}`);
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
    expect(await deliveriesOf("?per_page=3")).toHaveLength(3);
  });
});

describe("a redelivery", () => {
  /** The path to ask for it at the webhook of the test. */
  let path: string;

  beforeEach(async () => {
    await enqueue();
    path = `POST /deliveries/${(await deliveriesOf())[0]?.id}/redeliver`;
  });

  test(`is asked for ${REDELIVERIES_MAX} times a minute at most`, async () => {
    const statuses: number[] = [];
    for (let asked = 0; asked <= REDELIVERIES_MAX; asked += 1) {
      await endAll();
      statuses.push((await on(path)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: REDELIVERIES_MAX }, () => 200), 429]);
  });

  test("begins a delivery again that has ended, and is refused for any other", async () => {
    const [delivery] = await deliveriesOf();
    expect(delivery).toEqual({
      id: expect.stringMatching(UUID) as string,
      event_id: expect.stringMatching(UUID) as string,
      event_type: STAGE_CHANGED,
      state: "pending",
      attempts: [],
      created_at: expect.stringMatching(TIMESTAMP) as string,
      next_attempt_at: expect.stringMatching(TIMESTAMP) as string,
    });
    expect(await on(path)).toMatchObject(refused(409, "delivery-in-progress"));
    await endAll();
    expect(await on(path)).toMatchObject({ status: 200, body: { id: delivery?.id, state: "pending" } });
    await on("PUT", { enabled: false });
    expect(await on(path)).toMatchObject(refused(409, "webhook-disabled"));
    expect(await auditOf(postgres.pg, { owner: world.organization, kind: "delivery" })).toHaveLength(1);
  });

  test("is not found for an event that the webhook was not sent", async () => {
    const { id: other } = await create();
    expect((await call(path.replace(" ", ` /${other}`))).status).toBe(404);
    expect((await on("POST /deliveries/1/redeliver")).status).toBe(404);
  });
});
