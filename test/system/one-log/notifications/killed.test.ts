import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { Random } from "../../../../deploy/demo/random.js";
import { pause } from "../../../../schemas/async/pause.js";
import { SECRET_KEY } from "../../../support/api/management-api.js";
import { postgres, usePostgres } from "../../../support/api/use-world.js";
import { putMessages, putNotification, putOwner } from "../../../support/notifications/put-notifications.js";
import {
  type ReceivedMail,
  type SmtpReceiver,
  openSmtpReceiver,
} from "../../../support/notifications/smtp-receiver.js";
import { TEST_SEEDS } from "../../../support/test-seeds.js";

const MESSAGES = 12;
const STEPS = ["connect", "rcpt", "data"] as const;
const TIMEOUT = { timeout: 60_000 };

usePostgres();

test.each(TEST_SEEDS)(
  "a worker that is killed while it sends loses no mail, and only one that was taken comes again, under its Message-ID: seed %d",
  async (seed) => {
    await using smtp = await openSmtpReceiver();
    const random = new Random(seed);
    const step = STEPS[random.below(STEPS.length)];
    const nth = random.below(MESSAGES);
    // Before the answer is sent, on its way, or right after it.
    const delayMs = random.below(8);
    const notificationId = await putAll();
    let passed = 0;
    let killed: Promise<void> | undefined;
    smtp.onStep = (at) => {
      if (at === step && passed++ === nth) killed ??= pause(delayMs).then(() => kill(first));
    };
    const first = send(smtp);
    await expect.poll(() => killed !== undefined, TIMEOUT).toBe(true);
    await killed;
    // What the system still has of its connections.
    await pause(20);
    const taken = idsOf(smtp.mails);
    // As if the leases were over.
    const over =
      "update notification_messages set next_attempt_at = now() where notification_id = $1 and state = 'pending'";
    await postgres.pg.query(over, [notificationId]);
    const second = send(smtp);
    const states = async () => {
      const text =
        "select state, count(*)::int as count from notification_messages where notification_id = $1 group by 1";
      return (await postgres.pg.query<{ state: string; count: number }>(text, [notificationId])).rows;
    };
    await expect.poll(states, TIMEOUT).toEqual([{ state: "sent", count: MESSAGES }]);
    await kill(second);
    const all = idsOf(smtp.mails);
    const again = all.slice(taken.length).filter((id) => taken.includes(id));
    expect(new Set(all).size).toBe(MESSAGES);
    expect(all.length).toBe(MESSAGES + again.length);
    // At most those that one round of the worker sends at once.
    expect(again.length).toBeLessThanOrEqual(8);
    if (TEST_SEEDS.length > 1)
      console.log(`${step} ${nth} + ${delayMs} ms: ${taken.length} taken, ${again.length} again`);
  },
  120_000,
);

const idsOf = (mails: readonly ReceivedMail[]) => mails.map(({ headers }) => headers["message-id"] ?? "");

function send({ url }: SmtpReceiver): ChildProcess {
  const env = {
    ...process.env,
    POSTGRES_URL: postgres.url,
    SMTP_URL: url,
    SECRET_KEY: SECRET_KEY.toString("base64"),
  };
  return spawn(process.execPath, ["test/support/notifications/sender.mjs"], { env, stdio: "inherit" });
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** As planning writes them down; the notification's id. */
async function putAll(): Promise<string> {
  const { pg } = postgres;
  const id = await putNotification(pg, { ownerId: await putOwner(pg), target: "ada@example.org" });
  await putMessages(pg, id, MESSAGES);
  return id;
}
