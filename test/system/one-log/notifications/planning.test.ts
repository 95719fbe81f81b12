import { afterEach, describe, expect, test } from "vitest";
import { planMessages } from "../../../../api/features/notifications/plan-messages.js";
import type { Rule } from "../../../../api/features/notifications/rules.js";
import { insertWebhook, newWebhookId } from "../../../../api/features/webhooks/webhooks.js";
import type { NotificationEvent } from "../../../../schemas/contracts/notification-event.js";
import type { ClickHouse } from "../../../../schemas/shards.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";
import { putAccount, putNotification, putOwner } from "../../../support/notifications/put-notifications.js";

usePostgres();

afterEach(() => postgres.pg.query("delete from owners"));

const HOUR_MS = 3_600_000;

/** A ClickHouse that fails at once: rules of failures need none. */
const NO_CLICKHOUSE = new Proxy({} as ClickHouse, {
  get: () => () => Promise.reject(new Error("no ClickHouse")),
});

const plan = (laterMs = 0) =>
  planMessages({
    pg: postgres.pg,
    clickhouse: NO_CLICKHOUSE,
    signal: new AbortController().signal,
    now: () => new Date(Date.now() + laterMs),
    onFailure(error) {
      throw error;
    },
  });

const notify = (ownerId: string, event: NotificationEvent) =>
  putNotification(postgres.pg, { ownerId, event, target: "ada@example.org" });

async function failImports(ownerId: string, count: number): Promise<void> {
  const text = `
    insert into imports
      (id, owner_id, artifact_kind, status, chunks_total, upload_lease, events_total, events_failed, finished_at)
    select gen_random_uuid(), $1, 'any', 'done', 0, now(), 100, nth, clock_timestamp() + nth * interval '1 microsecond'
    from generate_series(11, 10 + $2::int) nth`;
  await postgres.pg.query(text, [ownerId, count]);
}

interface Told {
  failures: number;
  events_failed_to_import: number;
  others: { events_failed_to_import: number }[];
}

async function told(ownerId: string): Promise<Told[]> {
  const text = "select data from notification_messages where owner_id = $1 and state = 'pending' order by id";
  return (await postgres.pg.query<{ data: Told }>(text, [ownerId])).rows.map(({ data }) => data);
}

describe("failures", () => {
  test("of an hour are one message, which has the first of them and how many there were", async () => {
    const ownerId = await putOwner(postgres.pg);
    await notify(ownerId, "import-failed");
    await failImports(ownerId, 140);
    expect(await plan()).toBe(1);
    const [data] = await told(ownerId);
    expect(data).toMatchObject({ failures: 140, events_failed_to_import: 11 });
    expect(data?.others.map(({ events_failed_to_import: failed }) => failed)).toEqual(
      Array.from({ length: 99 }, (_, nth) => 12 + nth),
    );
  });

  test("that come later are told an hour after the last message, once, whoever plans how often", async () => {
    const ownerId = await putOwner(postgres.pg);
    await notify(ownerId, "import-failed");
    await failImports(ownerId, 1);
    await Promise.all([plan(), plan()]);
    await failImports(ownerId, 40);
    expect(await plan(HOUR_MS * 0.9)).toBe(0);
    await Promise.all([plan(HOUR_MS * 1.1), plan(HOUR_MS * 1.1)]);
    expect(await plan(HOUR_MS * 3)).toBe(0);
    expect((await told(ownerId)).map(({ failures }) => failures)).toEqual([1, 40]);
  });

  test("are told by each notification, however many there are of both", async () => {
    const ownerId = await putOwner(postgres.pg);
    for (let nth = 0; nth < 100; nth += 1) await notify(ownerId, "import-failed");
    await failImports(ownerId, 400);
    expect(await plan()).toBe(100);
    expect(new Set((await told(ownerId)).map(({ failures }) => failures))).toEqual(new Set([400]));
  });

  test("of webhooks and sources are gathered likewise", async () => {
    const { pg } = postgres;
    const ownerId = await putOwner(pg);
    await notify(ownerId, "webhook-disabled");
    await notify(ownerId, "source-failed");
    await pg.query(
      `insert into webhooks (id, owner_id, url, event_kinds, secret, enabled, disabled_reason, failing_since)
       select gen_random_uuid(), $1, 'https://crm.acme.example/' || nth, '{test}', '', false, 'Nothing.', now()
       from generate_series(1, 12) nth`,
      [ownerId],
    );
    await pg.query(
      `insert into sources (id, owner_id, kind, name, last_run_at, last_error, failures)
       select gen_random_uuid(), $1, 'npm', 'p' || nth, now(), 'npm answered 503.', 3 from generate_series(1, 30) nth`,
      [ownerId],
    );
    expect(await plan()).toBe(2);
    const data = await told(ownerId);
    expect(data).toContainEqual(
      expect.objectContaining({ failures: 12, host: "crm.acme.example", reason: "Nothing." }),
    );
    expect(data).toContainEqual(expect.objectContaining({ failures: 30, kind: "npm" }));
  });

  test("come to webhooks that subscribe as one event", async () => {
    const { pg } = postgres;
    const ownerId = await putOwner(pg);
    const webhook = { url: "https://crm.acme.example/", event_kinds: ["import-failed" as const] };
    await insertWebhook(pg, { ownerId, id: newWebhookId(), secret: Buffer.alloc(1), webhook });
    await failImports(ownerId, 40);
    expect(await plan()).toBe(1);
    expect(await plan(HOUR_MS * 2)).toBe(0);
    const { rows } = await pg.query<{ body: Buffer }>("select body from webhook_events where owner_id = $1", [
      ownerId,
    ]);
    const events = rows.map(({ body }) => JSON.parse(body.toString()) as { data: Told });
    expect(events.map(({ data }) => [data.failures, data.others.length])).toEqual([[40, 39]]);
  });
});

describe("planning", () => {
  /** Goes through rules, of which a turn has one, until `rules` of them were reached. Answers the owners of these. */
  async function planRules(rules = Infinity): Promise<Rule[]> {
    const stop = new AbortController();
    const reached: Rule[] = [];
    const planned = planMessages({
      pg: postgres.pg,
      clickhouse: NO_CLICKHOUSE,
      signal: stop.signal,
      turnMs: 0,
      onFailure(_, rule) {
        reached.push(rule);
        if (reached.length === rules) stop.abort();
      },
    });
    await planned.catch((error: unknown) => expect(stop.signal.aborted && error).toBe(stop.signal.reason));
    return reached;
  }

  /** A rule whose numbers cannot be read now. */
  async function notifyWeekly(ownerId: string): Promise<string> {
    const id = await notify(ownerId, "weekly-digest");
    const before = "update notifications set enabled_at = now() - interval '20 days' where id = $1";
    await postgres.pg.query(before, [id]);
    const counted = `
      insert into packages (id, owner_id, name, library_type, short_description)
      values (gen_random_uuid(), $1, 'web', 'other', '') on conflict do nothing`;
    await postgres.pg.query(counted, [ownerId]);
    return id;
  }

  test("goes on where it stopped, and then begins again", async () => {
    const ownerId = await putOwner(postgres.pg);
    const ids: string[] = [];
    for (let nth = 0; nth < 7; nth += 1) ids.push(await notifyWeekly(ownerId));
    const reached = async (rules?: number) =>
      (await planRules(rules)).map(({ notificationId }) => ids.indexOf(notificationId ?? ""));
    expect(await reached(3)).toEqual([0, 1, 2]);
    expect(await reached(2)).toEqual([3, 4]);
    expect(await reached()).toEqual([5, 6, 0, 1, 2, 3, 4, 5, 6]);
  });

  test("of many rules of an account and its organizations lets the others have their turn", async () => {
    const { pg } = postgres;
    const account = await putAccount(pg);
    for (let nth = 0; nth < 30; nth += 1) await notifyWeekly(account);
    for (let nth = 0; nth < 30; nth += 1) await notifyWeekly(await putOwner(pg, account));
    const other = await putOwner(pg);
    await notifyWeekly(other);
    const owners = (await planRules()).map(({ ownerId }) => ownerId);
    expect(owners).toHaveLength(61);
    expect(owners.indexOf(other)).toBeLessThan(4);
  });

  test("of one that waits longest comes first in the next run", async () => {
    const { pg } = postgres;
    const owners = [];
    for (let nth = 0; nth < 12; nth += 1) owners.push(await putOwner(pg));
    for (const owner of owners) await notifyWeekly(owner);
    const first = (await planRules(4)).map(({ ownerId }) => ownerId);
    const second = (await planRules(4)).map(({ ownerId }) => ownerId);
    expect(first.length).toBeGreaterThanOrEqual(4);
    expect(second.filter((owner) => first.includes(owner))).toEqual([]);
  });
});
