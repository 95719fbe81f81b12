import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { admitMail } from "../../../../api/features/notifications/admit-mail.js";
import { exampleOf } from "../../../../api/features/notifications/failures.js";
import type { NotificationRecord } from "../../../../schemas/contracts/notification.js";
import {
  MAIL_LIMITS,
  type MailLimit,
  SENDS_BY_HAND_MAX,
} from "../../../../api/features/notifications/mail-limits.js";
import { as, postgres, refused, world } from "../../../support/api/use-world.js";
import {
  confirm,
  idle,
  mails,
  notify,
  passTime,
  read,
  server,
  useMailWorld,
} from "../../../support/notifications/mail-world.js";
import { putMessages, putOwner } from "../../../support/notifications/put-notifications.js";

useMailWorld();

const STRANGER = "grace@elsewhere.example";
const maxOf = (wanted: Partial<MailLimit>) =>
  MAIL_LIMITS.find((limit) =>
    Object.entries(wanted).every(([key, value]) => limit[key as keyof MailLimit] === value),
  )?.max ?? 0;
const ASKED = maxOf({ by: "receiver", hours: 24 });
const ASKED_IN_WEEK = maxOf({ by: "receiver", hours: 7 * 24 });
const RECEIVED = maxOf({ by: "receiver", mails: "emails other than digests" });
const ASKING = maxOf({ by: "account", hours: 1 });
const SENDING = maxOf({ by: "account", mails: "emails" });

const tell = async ({ id }: NotificationRecord, count: number) => {
  await putMessages(postgres.pg, id, count);
  await idle();
};
const toMember = (event: string) => notify(`${world.names.member}@example.org`, { event });

/** Owners of several accounts; their names. */
async function makeOwners(count: number, by: readonly ("owner" | "admin" | "stranger")[]): Promise<string[]> {
  const names = Array.from({ length: count }, (_, nth) => `Many${nth}${world.organization}`);
  for (const [nth, name] of names.entries()) {
    const body = { name, description: "x", billingEmail: "pay@many.example" };
    expect((await as(by[nth % by.length] ?? "owner", "POST /v1/organizations", body)).status).toBe(201);
  }
  return names;
}

test("three owners of any account ask an address in a day, however it is written; the others wait", async () => {
  const by = ["owner", "stranger", "admin"] as const;
  const owners = await makeOwners(5, by);
  const spelled = [
    STRANGER,
    "Grace@elsewhere.example",
    "grace+1@elsewhere.example",
    "GRACE@Elsewhere.example",
    STRANGER,
  ];
  for (const [nth, owner] of owners.entries()) {
    await notify(spelled[nth] ?? "", { owner, by: by[nth % by.length] ?? "owner" });
    await idle();
  }
  expect(mails).toHaveLength(ASKED);
  const at = `/v2/${owners[4]}/notifications`;
  const waits = async () =>
    ((await as("stranger", `GET ${at}`)).body as { notifications: NotificationRecord[] }).notifications[0];
  expect(await waits()).toMatchObject({
    confirmed: false,
    last_error: "Email limit reached: one address can receive at most 3 confirmation emails in 24 hours.",
  });
  const again = await as("stranger", `POST ${at}/${(await waits())?.id}/confirmation`);
  expect(again).toMatchObject(refused(429, "rate-limited"));
  // Whoever deletes what asked has not more.
  await postgres.pg.query("delete from owners where name = any ($1)", [owners.slice(0, 3)]);
  await passTime("23 hours");
  await idle();
  expect(mails).toHaveLength(ASKED);
  await passTime("1 hour");
  await idle();
  expect(mails).toHaveLength(5);
});

test("no more owners than the limit of a week ask an address that does not answer", async () => {
  const owners = await makeOwners(7, ["owner", "stranger"]);
  for (const [nth, owner] of owners.entries()) {
    if (nth === ASKED) await passTime("24 hours");
    await notify(STRANGER, { owner, by: nth % 2 === 0 ? "owner" : "stranger" });
    await idle();
  }
  await passTime("25 hours");
  await idle();
  expect(mails).toHaveLength(ASKED_IN_WEEK);
});

test("a confirmation mail that waited longer than a day is not sent, and says so", async () => {
  for (const owner of await makeOwners(3, ["stranger"])) await notify(STRANGER, { owner, by: "stranger" });
  await idle();
  const made = await notify(STRANGER);
  await idle();
  const text = `
    update notification_messages set next_attempt_at = clock_timestamp(), checked_at = checked_at - interval '25 hours'
    where state = 'pending'`;
  await postgres.pg.query(text);
  await idle();
  expect(mails).toHaveLength(ASKED);
  expect((await read(made)).last_error).toContain("at most 3 confirmation emails");
  await passTime("24 hours");
  const at = `/v2/${made.owner}/notifications/${made.id}`;
  expect((await as("admin", `POST ${at}/confirmation`)).status).toBe(200);
  await idle();
  expect(mails).toHaveLength(ASKED + 1);
});

test("one account asks so many addresses in an hour, for whatever owners", async () => {
  const owners = [world.organization, ...(await makeOwners(1, ["admin"]))];
  for (let nth = 0; nth <= ASKING; nth += 1)
    await notify(`r${nth}@elsewhere.example`, { owner: owners[nth % 2] ?? "", by: "admin" });
  await idle();
  expect(mails).toHaveLength(ASKING);
  await notify("another@elsewhere.example", { by: "owner" });
  await idle();
  expect(mails).toHaveLength(ASKING + 1);
  await passTime("1 hour");
  await idle();
  expect(mails).toHaveLength(ASKING + 2);
});

test("a receiver gets so many mails in a day and all digests; the rest waits, and none is lost", async () => {
  const [alerts, digests] = [await toMember("import-failed"), await toMember("weekly-digest")];
  await tell(digests, RECEIVED + 5);
  expect(mails).toHaveLength(RECEIVED + 5);
  mails.length = 0;
  const data = exampleOf("import-failed", { thresholdPercent: 1 });
  await putMessages(postgres.pg, alerts.id, RECEIVED + 5, data);
  await idle();
  expect(mails).toHaveLength(RECEIVED);
  const waiting = "select distinct last_error, attempts from notification_messages where state = 'pending'";
  expect((await postgres.pg.query(waiting)).rows).toEqual([
    {
      last_error:
        "Email limit reached: one address can receive at most 20 emails other than digests in 24 hours.",
      attempts: 0,
    },
  ]);
  const failing = "select failing_since from notifications where id = $1";
  expect((await postgres.pg.query(failing, [alerts.id])).rows).toEqual([{ failing_since: null }]);
  await passTime("24 hours");
  await idle();
  expect(mails).toHaveLength(RECEIVED + 5);
});

test("an account sends so many mails in an hour, to whomever", async () => {
  const each = Math.ceil(SENDING / 3) + 5;
  for (const who of ["owner", "admin", "member"] as const) {
    const { id } = await notify(`${world.names[who]}@example.org`);
    await putMessages(postgres.pg, id, each);
  }
  await idle();
  expect(mails).toHaveLength(SENDING);
  await passTime("1 hour");
  await idle();
  expect(mails).toHaveLength(3 * each);
});

test("an account sends so many mails to one receiver in a day, and others still reach the receiver", async () => {
  const max = maxOf({ by: "pair", mails: "emails" });
  await tell(await toMember("weekly-digest"), max + 3);
  expect(mails).toHaveLength(max);
  await tell(await notify(`${world.names.member}@example.org`, { by: "owner" }), 2);
  expect(mails).toHaveLength(max + 2);
});

test("a mail that is tried again counts once", async () => {
  let tries = 0;
  server.sendMail = async () => {
    tries += 1;
    if (tries < 4) throw new Error("not now");
  };
  await notify(STRANGER);
  for (let nth = 0; nth < 4; nth += 1) {
    await idle();
    await postgres.pg.query(
      "update notification_messages set next_attempt_at = now() where state = 'pending'",
    );
  }
  await idle();
  expect([tries, mails.length]).toEqual([4, 1]);
  const text = "select count(*)::int as mails from mail_counts where counted_by like 'receiver %'";
  expect((await postgres.pg.query(text)).rows).toEqual([{ mails: 1 }]);
  await confirm(mails[0]);
});

test("messages by hand are limited by account, for all of its owners together", async () => {
  const owners = await makeOwners(SENDS_BY_HAND_MAX + 1, ["admin"]);
  const answers = [];
  for (const owner of owners) {
    const made = await notify(`${world.names.admin}@example.org`, {
      owner,
      by: "admin",
      event: "import-failed",
    });
    answers.push(await as("admin", `POST /v2/${owner}/notifications/${made.id}/send`, {}));
  }
  const last = answers.pop();
  expect(answers.map(({ body }) => body)).toEqual(answers.map(() => ({ success: true })));
  expect(last).toMatchObject(refused(429, "rate-limited"));
  expect(mails).toHaveLength(SENDS_BY_HAND_MAX);
});

test("a message by hand to a receiver who got enough is answered with when there is room", async () => {
  const made = await toMember("import-failed");
  const text = `
    insert into mail_counts (message_id, counted_by, kind)
    select gen_random_uuid(), 'receiver ' || $1, 'by-hand' from generate_series(1, $2)`;
  await postgres.pg.query(text, [made.target, RECEIVED]);
  const sent = await as("owner", `POST /v2/${made.owner}/notifications/${made.id}/send`, {});
  expect(sent).toMatchObject(refused(429, "rate-limited"));
  expect((sent.body as { message: string }).message).toContain(
    "at most 20 emails other than digests in 24 hours",
  );
  expect(Number(sent.headers.get("retry-after"))).toBeGreaterThan(23 * 3_600);
  expect(mails).toHaveLength(0);
});

test("mails that are decided on at the same time, by several processes, keep the limits", async () => {
  const { pg } = postgres;
  const ownerIds = await Promise.all(Array.from({ length: 12 }, () => putOwner(pg)));
  const admissions = await Promise.all(
    ownerIds.map((ownerId, nth) =>
      admitMail(pg, {
        ownerId,
        messageId: randomUUID(),
        mailbox: nth % 2 === 0 ? STRANGER : "Grace+2@elsewhere.example",
        kind: "confirmation",
        accountId: null,
        asker: "ada",
      }),
    ),
  );
  expect(admissions.filter(({ is }) => is === "admitted")).toHaveLength(ASKED);
  expect(admissions.filter(({ is }) => is === "limited")).toHaveLength(12 - ASKED);
});
