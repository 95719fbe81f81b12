import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectApi, type ApiClient } from "../../../../deploy/demo/api-client.js";
import type { NotificationRecord, NotificationSent } from "../../../../schemas/contracts/notification.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { lastPeriod } from "../../../../api/features/notifications/periods.js";
import { type Receiver, openReceiver } from "../../../support/api/receivers.js";
import { visit } from "../../../support/dashboard/visitor.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { planAt } from "../../../support/notifications/plan-at.js";
import { type SmtpReceiver, openSmtpReceiver } from "../../../support/notifications/smtp-receiver.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

const TARGET = "/hooks/a-secret-path";
const HOUR_MS = 3_600_000;

let smtp: SmtpReceiver;
let chat: Receiver;
let toolchain: Toolchain;
let api: ApiClient;
let pool: pg.Pool;
let stores: { pg: pg.Pool; clickhouse: ReturnType<typeof connectClickHouse> };
let importPath: string;

const week = lastPeriod("week", new Date());
const yesterday = lastPeriod("day", new Date()).startDate;
const daysBefore = (date: string, days: number) => dateAt(Date.parse(date) - days * DAY_MS);

const EVENTS: readonly [day: string, count: number, address: string][] = [
  [week.startDate, 120, "141.113.0.20"],
  // Not the last day of the week, which is yesterday on Mondays.
  [daysBefore(week.endDate, 2), 60, "2a00:1450:4001:80b::200e"],
  [daysBefore(week.startDate, 3), 100, "141.113.0.21"],
  [yesterday, 90, "127.0.0.1"],
  ...[7, 14, 21, 28].map(
    (days) => [daysBefore(yesterday, days), 40, "127.0.0.1"] as [string, number, string],
  ),
];

const linesOf = (day: string, count: number, address: string) =>
  `{"$time":"${day}T10:00:00Z","$remote_address":"${address}","$version":"1.4.0"}\n`.repeat(count);

beforeAll(async () => {
  [smtp, chat] = await Promise.all([openSmtpReceiver(), openReceiver()]);
  toolchain = await startToolchain({
    prepared: ["databases"],
    env: {
      SMTP_URL: smtp.url,
      MAIL_FROM: '"Stats, Acme" (of all) <stats@acme.example>',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    },
  });
  await reopen();
  const ada = await toolchain.newAccount("ada");
  api = ada;
  await makeOrganization(ada, "acme");
  const { id } = await makePackage(ada, { organization: "acme", name: "<b>web", libraryType: "npm" });
  importPath = `/v2/packages/acme/${id}/import`;
  const body = EVENTS.map((each) => linesOf(...each)).join("");
  await api.pollToDone(await api.importBody(importPath, body));
}, 300_000);

afterAll(async () => {
  await close();
  await toolchain?.close();
  await Promise.all([smtp, chat].map((each) => each?.[Symbol.asyncDispose]()));
});

/** The program's stores, whose ports change with a restart. */
async function reopen(): Promise<void> {
  const { postgres = "", clickhouse = "" } = toolchain.endpoints;
  pool = new pg.Pool({ connectionString: postgres, max: 3 });
  stores = { pg: pool, clickhouse: connectClickHouse(clickhouse) };
  if (api !== undefined) api = connectApi(toolchain.api, api.token);
}

async function close(): Promise<void> {
  await pool?.end();
  await stores?.clickhouse.close();
}

/** A notification as if it were made before the last periods ended. */
async function notify(body: object, since = daysBefore(week.endDate, 1)): Promise<NotificationRecord> {
  const made = await api.post<NotificationRecord>("/v2/acme/notifications", body);
  await pool.query("update notifications set enabled_at = $2 where id = $1", [made.id, since]);
  return made;
}

async function read({ id }: NotificationRecord): Promise<NotificationRecord> {
  return api.get(`/v2/acme/notifications/${id}`);
}

const remove = ({ id }: NotificationRecord) =>
  api.request(`/v2/acme/notifications/${id}`, { method: "DELETE" });
const plan = (laterMs = 0) => planAt(stores, new Date(Date.now() + laterMs));
const byChat = (event: string, more: object = {}) => ({
  event,
  channel: "mattermost",
  target: chat.url.replace("/hook", TARGET),
  ...more,
});
const byMail = (event: string, more: object = {}) => ({
  event,
  channel: "email",
  target: "ada@example.org",
  ...more,
});
const texts = () => chat.received.map(({ body }) => (JSON.parse(body.toString()) as { text: string }).text);

async function sent(of: { length: number }, count: number): Promise<void> {
  await expect.poll(() => of.length, { timeout: 15_000 }).toBe(count);
}

describe("a weekly digest by mail", () => {
  let made: NotificationRecord;
  afterAll(() => remove(made));

  test("is sent once, whoever plans how often, and says so", async () => {
    smtp.mails.length = 0;
    made = await notify(byMail("weekly-digest", { target: '"Lovelace, Ada" <ada@example.org>' }));
    expect(made.target).toBe("ada@example.org");
    await Promise.all([plan(), plan()]);
    await plan(HOUR_MS * 3);
    await expect.poll(async () => (await read(made)).last_sent_at).toBeDefined();
    expect(smtp.mails).toHaveLength(1);
    expect((await read(made)).last_error).toBeUndefined();
  });

  test("has the numbers of the statistics, in its text and in its HTML", async () => {
    const query = `startDate=${week.startDate}&endDate=${week.endDate}&compare=previous`;
    const { totals, compare } = await api.get<Statistics>(`/v2/acme/stats?${query}`);
    expect([totals.downloads, compare?.totals.downloads]).toEqual([
      EVENTS.filter(([day]) => day >= week.startDate && day < week.endDate).reduce(
        (sum, [, count]) => sum + count,
        0,
      ),
      EVENTS.filter(([day]) => day >= daysBefore(week.startDate, 7) && day < week.startDate).reduce(
        (sum, [, count]) => sum + count,
        0,
      ),
    ]);
    const [{ parts, headers } = { parts: {}, headers: {} as Record<string, string> }] = smtp.mails;
    const { "text/plain": text = "", "text/html": html = "" } = parts as Record<string, string>;
    expect(text).toMatch(new RegExp(`Downloads +${totals.downloads} `));
    expect(text).toMatch(new RegExp(`Companies +${totals.companies} `));
    expect(text).toMatch(new RegExp(`<b>web +${totals.downloads} `));
    expect(text).toContain("Google");
    expect(text).not.toMatch(/Mercedes.*mercedes-benz/);
    expect(html).toContain(`>${totals.downloads}<`);
    expect(html).toContain("&lt;b>web");
    expect(headers["subject"]).toContain(`Maintainer Toolchain: "acme": ${totals.downloads} downloads`);
    expect(headers["from"]).toBe('"Stats, Acme" <stats@acme.example>');
  });

  test("ends with one click, and not by looking at its link", async () => {
    const [{ headers, parts, to } = { headers: {}, parts: {}, to: [] }] = smtp.mails;
    expect(to).toEqual(["ada@example.org"]);
    const mail: Record<string, string> = headers;
    expect(mail["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
    const [, url = ""] = /^<(.+)>$/.exec(mail["list-unsubscribe"] ?? "") ?? [];
    expect(textOf(parts)).toContain(url);
    const looked = await fetch(url);
    expect([looked.status, await looked.text()]).toEqual([
      200,
      expect.stringContaining("Stop all emails about acme"),
    ]);
    expect(await read(made)).toMatchObject({ confirmed: true, stopped: false });

    const [base = "", token = ""] = url.split("?token=");
    const wrong = [
      `${base}?token=${token.slice(0, -3)}abc`,
      base,
      url.replace(made.id, made.id.replace(/^.{8}/, "00000000")),
    ];
    for (const each of wrong) expect((await fetch(each, { method: "POST" })).status, each).toBe(404);
    expect(await read(made)).toMatchObject({ confirmed: true, stopped: false });

    const clicked = await fetch(url, { method: "POST", body: new URLSearchParams(LIST_UNSUBSCRIBE) });
    expect([clicked.status, await clicked.text()]).toEqual([
      200,
      expect.stringContaining("You are unsubscribed"),
    ]);
    expect(await read(made)).toMatchObject({ enabled: true, confirmed: false, stopped: true });
    const error = "ada@example.org unsubscribed from these emails. Only the receiver can undo this.";
    const byHand = await api.post(`/v2/acme/notifications/${made.id}/send`, {});
    expect(byHand).toEqual({ success: false, error });
    await fetch(url, { method: "POST", body: new URLSearchParams({ choice: "resume" }) });
    expect(await read(made)).toMatchObject({ confirmed: true, stopped: false });
  });
});

const textOf = (parts: Record<string, string>) => parts["text/plain"];
const LIST_UNSUBSCRIBE = { "List-Unsubscribe": "One-Click" };

test("somebody who looks at too many badges can still end mails", async () => {
  const badge = async () => (await fetch(`${toolchain.api}/badge/acme/web.svg`)).status;
  await expect.poll(badge, { interval: 1 }).toBe(429);
  expect((await fetch(`${toolchain.api}/unsubscribe/none?token=x`)).status).toBe(404);
});

test("what a mail server refuses by hand is in the log, without the receiver's address", async () => {
  smtp.onStep = (step) => (step === "rcpt" ? "550 no such user <ada@example.org>" : undefined);
  const made = await notify(byMail("weekly-digest"));
  const sentByHand = await api.post<NotificationSent>(`/v2/acme/notifications/${made.id}/send`, {});
  expect(sentByHand).toMatchObject({ success: false });
  await expect.poll(() => toolchain.log()).toContain("550 no such user <(address)>");
  expect(toolchain.log()).toContain("could not send an email");
  expect(toolchain.log()).not.toContain("ada@example.org");
  smtp.onStep = () => undefined;
  await remove(made);
});

test("what a mail server refuses is final, and what it puts off is tried again with the same Message-ID", async () => {
  smtp.mails.length = 0;
  smtp.onStep = (step) => (step === "rcpt" ? "550 no such user" : undefined);
  const refused = await notify(byMail("weekly-digest"));
  await plan();
  const error = async () => (await read(refused)).last_error;
  await expect.poll(error, { timeout: 15_000 }).toContain("550 no such user");
  const states = "select state from notification_messages where notification_id = $1 and state <> 'nothing'";
  expect((await pool.query(states, [refused.id])).rows).toEqual([{ state: "failed" }]);

  smtp.onStep = (step, mails) => (step === "data" && mails.length === 1 ? "451 later" : undefined);
  const later = await notify(byMail("weekly-digest"));
  await plan();
  await expect.poll(async () => (await read(later)).last_error, { timeout: 15_000 }).toContain("451 later");
  await pool.query("update notification_messages set next_attempt_at = now() where state = 'pending'");
  await sent(smtp.mails, 2);
  const [first, second] = smtp.mails.map(({ headers }) => headers["message-id"]);
  expect(first).toMatch(/^<[0-9a-f-]{36}@acme\.example>$/);
  expect(second).toBe(first);
  await expect.poll(async () => (await read(later)).last_error).toBeUndefined();
  await Promise.all([refused, later].map(remove));
});

test("a day is told that is far from the same weekdays before, and one that is not is not", async () => {
  chat.received.length = 0;
  // 90 downloads where the median is 40.
  const made = [
    await notify(byChat("downloads-changed", { threshold_percent: 125 }), yesterday),
    await notify(byChat("downloads-changed", { threshold_percent: 126 }), yesterday),
  ];
  await plan();
  await sent(chat.received, 1);
  expect(texts()[0]).toContain(String.raw`90 downloads`);
  expect(texts()[0]).toContain(String.raw`a change of \+125 %`);
  await Promise.all(made.map(remove));
});

test("companies are new on the day on which they are counted first", async () => {
  chat.received.length = 0;
  const made = await notify(byChat("new-companies"), daysBefore(yesterday, 7));
  await plan();
  const first = EVENTS[1]?.[0] ?? "";
  // Days without a new company have a row that says nothing, which is no message.
  const told = first >= daysBefore(yesterday, 6) ? 1 : 0;
  await sent(chat.received, told);
  if (told === 1) expect(texts()[0]).toContain("Google");
  await remove(made);
});

describe("numbers that change afterwards", () => {
  test("by more than 1 % are corrected once, in the thread of the mail; by less they are not", async () => {
    smtp.mails.length = 0;
    smtp.onStep = () => undefined;
    const made = await notify(byMail("weekly-digest"));
    await plan();
    await sent(smtp.mails, 1);
    const day = daysBefore(week.endDate, 2);
    const more = async (count: number) =>
      api.pollToDone(await api.importBody(importPath, linesOf(day, count, "127.0.0.1")));
    const { totals } = await api.get<Statistics>(
      `/v2/acme/stats?startDate=${week.startDate}&endDate=${week.endDate}`,
    );
    // The address is a known one of another week: one more address of three would be more than 1 %.
    const small = await api.pollToDone(
      await api.importBody(importPath, linesOf(day, Math.floor(totals.downloads / 100), "141.113.0.20")),
    );
    await plan(2 * HOUR_MS);
    await sent(smtp.mails, 1);
    await more(30);
    expect(await plan()).toBe(0);
    expect(await plan(2 * HOUR_MS)).toBe(1);
    await sent(smtp.mails, 2);
    const [first, correction] = smtp.mails.map(({ headers }) => headers);
    expect(correction?.["subject"]).toMatch(/^Maintainer Toolchain: Correction: "acme": /);
    expect(correction?.["in-reply-to"]).toBe(first?.["message-id"]);
    await retract(api, `/v2/imports/acme/${small.id}`);
    await more(300);
    expect(await plan(4 * HOUR_MS)).toBe(0);
    await remove(made);
  });

  test("without an import, as by an erasure, are looked for after six hours", async () => {
    const made = await notify(byMail("weekly-digest"));
    await plan();
    await expect.poll(async () => (await read(made)).last_sent_at).toBeDefined();
    // As if there had been twice as many.
    const doubled = `update notification_messages set data = jsonb_set(data, '{totals,views}', '1000')
      where notification_id = $1 and state = 'sent'`;
    await pool.query(doubled, [made.id]);
    expect(await plan(2 * HOUR_MS)).toBe(0);
    expect(await plan(7 * HOUR_MS)).toBe(1);
    await remove(made);
  });

  test("are no correction of a notification that was of another package then", async () => {
    const made = await notify(byMail("weekly-digest"));
    await plan();
    await expect.poll(async () => (await read(made)).last_sent_at).toBeDefined();
    const [{ uuid } = { uuid: "" }] = await api.get<{ uuid: string }[]>("/v1/organizations/acme/packages");
    const change = { method: "PUT", body: JSON.stringify({ package: uuid }) };
    expect((await api.request(`/v2/acme/notifications/${made.id}`, change)).status).toBe(200);
    await pool.query(
      "update notification_messages set data = jsonb_set(data, '{totals,views}', '1000') where notification_id = $1",
      [made.id],
    );
    expect(await plan(7 * HOUR_MS)).toBe(0);
    await remove(made);
  });
});

test("an import that refuses more than its share is told once, one that refuses less is not", async () => {
  chat.received.length = 0;
  const made = [
    await notify(byChat("import-failed"), dateAt(Date.now())),
    await notify(byChat("import-failed", { threshold_percent: 10 }), dateAt(Date.now())),
  ];
  const body = `${linesOf(yesterday, 19, "127.0.0.1")}broken\n`;
  await api.pollToDone(await api.importBody(importPath, body));
  await plan();
  await plan();
  await sent(chat.received, 1);
  expect(texts()[0]).toContain("1 of 20 lines");
  await Promise.all(made.map(remove));
});

test("a webhook that was disabled and a source that fails again and again are told once for each time", async () => {
  chat.received.length = 0;
  const webhook = await api.post<{ id: string }>("/v2/acme/webhooks", {
    url: "http://127.0.0.1:59999/secret",
    event_kinds: ["company-funnel-stage-changed"],
  });
  const made = [await notify(byChat("webhook-disabled")), await notify(byChat("source-failed"))];
  await pool.query(
    `update webhooks set enabled = false, disabled_reason = 'No event could be delivered for three days.',
       failing_since = now() - interval '3 days', updated_at = now() where id = $1`,
    [webhook.id],
  );
  await pool.query(
    `insert into sources (id, owner_id, kind, name, last_run_at, last_error, failures)
     select gen_random_uuid(), id, 'npm', '@everyone', now(), 'npm answered 503.', failures
     from owners, (values (3), (2)) f (failures) where name = 'acme' and f.failures = 3`,
  );
  await plan();
  await plan();
  await sent(chat.received, 2);
  const [one = "", other = ""] = texts().toSorted(
    (a, b) => Number(a.includes("npm")) - Number(b.includes("npm")),
  );
  expect(one).toContain(String.raw`127\.0\.0\.1:59999 was disabled`);
  expect(one).not.toContain("secret");
  expect(other).toContain("npm answered 503");
  expect(other).not.toContain("@everyone");
  await Promise.all(made.map(remove));
});

test("webhooks that subscribe get what a message says as data, once", async () => {
  chat.received.length = 0;
  const { id } = await api.post<{ id: string }>("/v2/acme/webhooks", {
    url: chat.url,
    event_kinds: ["weekly-digest", "downloads-changed"],
  });
  await pool.query("update webhooks set updated_at = $2 where id = $1", [id, yesterday]);
  await plan();
  await plan();
  // Only a Monday has a weekly digest to send as well.
  await sent(chat.received, new Date().getUTCDay() === 1 ? 2 : 1);
  const events = chat.received.map(
    ({ body }) => JSON.parse(body.toString()) as { type: string; data: object },
  );
  const [event, ...others] = events.filter(({ type }) => type === "downloads-changed");
  expect(others).toEqual([]);
  expect(event?.data).toMatchObject({
    start_date: yesterday,
    median: 40,
    threshold_percent: 50,
    correction: false,
  });
  await api.request(`/v2/acme/webhooks/${id}`, { method: "DELETE" });
});

test("a message by hand is sent at once and takes no other's place", async () => {
  chat.received.length = 0;
  const made = await notify(byChat("weekly-digest"));
  const send = () => api.post<NotificationSent>(`/v2/acme/notifications/${made.id}/send`, {});
  expect(await send()).toEqual({ success: true });
  expect(chat.received).toHaveLength(1);
  await plan();
  await sent(chat.received, 2);
  expect(texts()[0]).toBe(texts()[1]);
  await remove(made);
});

test("a record says what came of a message that was sent by hand", async () => {
  // Messages by hand are limited by account, and other tests send some.
  const bea = await toolchain.newAccount("bea");
  await bea.post("/v1/organizations", { name: "by-hand", description: "x", billingEmail: "a@example.org" });
  const made = await bea.post<NotificationRecord>("/v2/by-hand/notifications", byChat("import-failed"));
  const at = `/v2/by-hand/notifications/${made.id}`;
  const send = () => bea.post<NotificationSent>(`${at}/send`, {});
  const readMade = () => bea.get<NotificationRecord>(at);
  const lead = (target: string) => bea.request(at, { method: "PUT", body: JSON.stringify({ target }) });
  expect(made).not.toHaveProperty("last_sent_at");
  expect(await send()).toEqual({ success: true });
  const first = await readMade();
  expect(Date.parse(first.last_sent_at ?? "")).toBeGreaterThanOrEqual(Date.parse(first.created_at));
  expect(first).not.toHaveProperty("last_error");

  await lead("http://127.0.0.1:1/hook");
  const { error } = await send();
  expect(await readMade()).toMatchObject({ last_sent_at: first.last_sent_at, last_error: error });

  await lead(chat.url);
  expect(await send()).toEqual({ success: true });
  const last = await readMade();
  expect(last).not.toHaveProperty("last_error");
  expect((last.last_sent_at ?? "") > (first.last_sent_at ?? "")).toBe(true);
  await bea.request(at, { method: "DELETE" });
});

test.each([0, 5, 99.5, 150])(
  "a preview of failed imports is one that a threshold of %s tells",
  async (threshold) => {
    const made = await notify(byChat("import-failed", { threshold_percent: threshold }));
    const { text } = await api.get<{ text: string }>(`/v2/acme/notifications/${made.id}/preview`);
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      `more than ${threshold} % of an import's lines are rejected`,
    );
    await remove(made);
  },
);

test("what waits for a notification that is disabled is never sent", async () => {
  chat.received.length = 0;
  const made = await notify(byChat("weekly-digest", { target: "http://127.0.0.1:1/hook" }));
  await plan();
  await expect.poll(async () => (await read(made)).last_error, { timeout: 15_000 }).toBeDefined();
  const put = (body: object) =>
    api.request(`/v2/acme/notifications/${made.id}`, { method: "PUT", body: JSON.stringify(body) });
  await put({ enabled: false });
  await put({ enabled: true, target: chat.url });
  await pool.query("update notification_messages set next_attempt_at = now()");
  await pool.query("update notifications set enabled_at = $2 where id = $1", [
    made.id,
    daysBefore(week.endDate, 1),
  ]);
  await plan();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  expect(chat.received).toHaveLength(0);
  await remove(made);
});

test("the page makes, shows, previews, sends, edits and ends a notification without script, for managers alone", async () => {
  chat.received.length = 0;
  const at = "/o/acme/settings/notifications";
  const owner = await visit(toolchain.api, { username: "ada", token: api.token });
  const fields = { event: "weekly-digest", package: "", threshold_percent: "", channel: "mattermost" };
  const target = chat.url.replace("/hook", TARGET);
  const made = await owner.submit(at, { action: "create", ...fields, target });
  expect(made.text).toContain("Notification created.");
  expect(made.text).toMatch(/Weekly digest .*127\.0\.0\.1:\d+ Mattermost On Nothing sent yet/);
  expect(made.html).not.toContain(TARGET);
  const [, id = ""] = /value="send ([0-9a-f-]{36})"/.exec(made.html) ?? [];
  const preview = await owner.get(`${at}?preview=${id}`);
  expect(preview.text).toMatch(/Preview Maintainer Toolchain: "acme": [\d,]+ downloads/);
  expect(preview.html).not.toContain("<b>web");
  expect((await owner.post(at, { action: `send ${id}` })).text).toContain("Message sent.");
  expect(chat.received).toHaveLength(1);

  const edit = await owner.get(`${at}?edit=${id}`);
  expect(edit.text).toContain("Edit notification");
  const changes = { action: `change ${id}`, ...fields, target: "" };
  const refusedPage = await owner.post(`${at}?edit=${id}`, {
    ...changes,
    event: "import-failed",
    threshold_percent: "many",
  });
  expect([refusedPage.status, refusedPage.text]).toEqual([422, expect.stringContaining("must be a number")]);
  const changed = await owner.submit(at, { ...changes, event: "import-failed", threshold_percent: "2.5" });
  expect(changed.text).toContain("Failed imports 2.5 %");
  expect((await owner.submit(at, { action: `disable ${id}` })).text).toContain("Off");
  expect((await owner.submit(at, { action: `delete ${id}` })).text).not.toContain("127.0.0.1");

  const mate = await toolchain.newAccount("mate");
  await api.post("/v1/organizations/acme/users", { username: "mate", role: "member" });
  const member = await visit(toolchain.api, { username: "mate", token: mate.token });
  expect((await member.get(at)).status).toBe(403);
  expect((await member.get("/o/acme/settings")).text).not.toContain("Notifications");
});
