import { afterEach, expect, test } from "vitest";
import type { Mail } from "../../../../api/features/notifications/mail.js";
import {
  NOTIFICATION_LIMITS,
  startNotifications,
} from "../../../../api/features/notifications/start-notifications.js";
import { createGuard } from "../../../../api/base/outbound/guard-address.js";
import { type Receiver, openRawReceiver, openReceiver } from "../../../support/api/receivers.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";
import {
  TARGETS,
  putAccount,
  putMessages,
  putNotification,
  putOwner,
} from "../../../support/notifications/put-notifications.js";

usePostgres();

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
  await postgres.pg.query("delete from owners");
});

/** A chat that takes every connection and never answers. */
async function openHangingChat(): Promise<Receiver> {
  const chat = await openRawReceiver((socket) => void socket.resume());
  opened.push(chat);
  return chat;
}

/** The worker, and the mails that it sent. */
function startSending(): Mail[] {
  const mails: Mail[] = [];
  const worker = startNotifications({
    pg: postgres.pg,
    guard: createGuard({ allowPrivateNetworks: true }),
    sealer: TARGETS,
    linkBase: () => "https://stats.acme.example",
    sendMail: async (mail) => void mails.push(mail),
    onFailure: (error) => console.error(error),
    everyMs: 20,
  });
  // Ended before its chat, whose requests it waits for.
  opened.unshift(worker);
  return mails;
}

const toChat = async (chat: Receiver, ownerId: string) =>
  putNotification(postgres.pg, { ownerId, channel: "slack", target: chat.url });

async function putMail(): Promise<void> {
  const { pg } = postgres;
  const ownerId = await putOwner(pg);
  await putMessages(pg, await putNotification(pg, { ownerId, target: "ada@example.org" }), 1);
}

async function untouched(): Promise<number> {
  const text =
    "select count(*)::int as count from notification_messages where attempts = 0 and claim is null and state = 'pending'";
  return (await postgres.pg.query<{ count: number }>(text)).rows[0]?.count ?? 0;
}

test("thousands of messages to a chat that hangs keep no other owner's mail back", async () => {
  const chat = await openHangingChat();
  const { pg } = postgres;
  const ownerId = await putOwner(pg);
  for (let nth = 0; nth < 20; nth += 1) await putMessages(pg, await toChat(chat, ownerId), 200);
  const mails = startSending();
  await expect.poll(() => chat.open).toBe(NOTIFICATION_LIMITS.perOwner);
  await putMail();
  await expect.poll(() => mails.length).toBe(1);
  expect(await untouched()).toBeGreaterThan(3_900);
  expect(chat.openMax).toBe(NOTIFICATION_LIMITS.perOwner);
});

test("the organizations that one account made have the share of one owner", async () => {
  const chat = await openHangingChat();
  const { pg } = postgres;
  const account = await putAccount(pg);
  for (let nth = 0; nth < 40; nth += 1)
    await putMessages(pg, await toChat(chat, await putOwner(pg, account)), 5);
  await putMessages(pg, await toChat(chat, account), 5);
  const mails = startSending();
  await expect.poll(() => chat.open).toBe(NOTIFICATION_LIMITS.perOwner);
  await putMail();
  await expect.poll(() => mails.length).toBe(1);
  expect(chat.openMax).toBe(NOTIFICATION_LIMITS.perOwner);
});

test("chats of many owners that hang leave room once they are known to", async () => {
  const chat = await openHangingChat();
  const { pg } = postgres;
  for (let nth = 0; nth < 40; nth += 1) await putMessages(pg, await toChat(chat, await putOwner(pg)), 5);
  await pg.query("update notifications set failing_since = now()");
  const mails = startSending();
  await expect.poll(() => chat.open).toBe(NOTIFICATION_LIMITS.failingSlots);
  await putMail();
  await expect.poll(() => mails.length).toBe(1);
  expect(chat.openMax).toBe(NOTIFICATION_LIMITS.failingSlots);
});

test("a notification is failing until a message arrives, and one that was changed is not", async () => {
  const { pg } = postgres;
  const chat = await openReceiver();
  opened.push(chat);
  const ownerId = await putOwner(pg);
  const id = await putNotification(pg, { ownerId, channel: "slack", target: "http://127.0.0.1:1/hook" });
  await putMessages(pg, id, 1);
  startSending();
  const isFailing = async () => {
    const text = "select failing_since is not null as failing from notifications where id = $1";
    return (await pg.query<{ failing: boolean }>(text, [id])).rows[0]?.failing;
  };
  await expect.poll(isFailing).toBe(true);
  await pg.query("update notifications set target = $2 where id = $1", [id, TARGETS.seal(chat.url, id)]);
  await pg.query("update notification_messages set next_attempt_at = now() where state = 'pending'");
  await expect.poll(isFailing).toBe(false);
});

test("what waits for a notification that is disabled is not claimed", async () => {
  const { pg } = postgres;
  const ownerId = await putOwner(pg);
  const id = await putNotification(pg, { ownerId, target: "bob@example.org" });
  await putMessages(pg, id, 3);
  await pg.query("update notifications set enabled = false where id = $1", [id]);
  const mails = startSending();
  await putMail();
  await expect.poll(() => mails.map(({ to }) => to)).toEqual(["ada@example.org"]);
  expect(await untouched()).toBe(3);
});
