import { describe, expect, test } from "vitest";
import type { NotificationRecord } from "../../../../schemas/contracts/notification.js";
import { visit } from "../../../support/dashboard/visitor.js";
import { auditOf } from "../../../support/api/management-world.js";
import { api, as, giveLevel, makePackage, postgres, refused, world } from "../../../support/api/use-world.js";
import {
  atApi,
  choose,
  confirm,
  idle,
  linkIn,
  mails,
  notify,
  passTime,
  read,
  server,
  useMailWorld,
} from "../../../support/notifications/mail-world.js";
import { putMessages } from "../../../support/notifications/put-notifications.js";

useMailWorld();

const STRANGER = "grace@elsewhere.example";

/** New messages of notifications, and what the worker makes of them. */
async function tell(...notifications: NotificationRecord[]): Promise<void> {
  await postgres.pg.query("delete from notification_messages where event <> 'agreement'");
  for (const { id } of notifications) await putMessages(postgres.pg, id, 3);
  await idle();
}

/** An organization of another account of the world; its name. */
async function otherOwner(): Promise<string> {
  const name = `Other${world.organization}`;
  const body = { name, description: "x", billingEmail: "pay@other.example" };
  expect((await as("stranger", "POST /v1/organizations", body)).status).toBe(201);
  return name;
}

describe("an address of no member", () => {
  test("gets one mail that asks, however many notifications and messages there are, and nothing else", async () => {
    const made = [await notify(STRANGER), await notify(STRANGER), await notify(`Grace <${STRANGER}>`)];
    await tell(...made);
    await as("admin", `PUT /v2/${world.organization}/notifications/${made[0]?.id}`, { enabled: true });
    await tell(...made);
    expect(mails.map(({ to }) => to)).toEqual([STRANGER]);
    const [{ subject, text, html } = { subject: "", text: "", html: "" }] = mails;
    expect(subject).toBe(`Maintainer Toolchain: confirm emails about "${world.organization}"`);
    expect(text).toContain(`"${world.names.admin}" wants`);
    expect(text.match(/https?:/g)).toHaveLength(1);
    expect(html.match(/href=/g)).toHaveLength(1);
    expect(await read(made[1] as NotificationRecord)).toMatchObject({ confirmed: false, stopped: false });
  });

  test("gets mails once its receiver confirmed on the page, which looking at does not do", async () => {
    const made = await notify(STRANGER);
    await idle();
    const url = linkIn(mails[0], "confirm-address");
    for (const method of ["GET", "HEAD", "GET"]) expect((await fetch(url, { method })).status).toBe(200);
    expect(await (await fetch(url)).text()).toContain(`&quot;${world.names.admin}&quot; wants`);
    expect((await fetch(url, { method: "POST" })).status).toBe(200);
    expect(await read(made)).toMatchObject({ confirmed: false });
    await confirm(mails[0]);
    expect(await read(made)).toMatchObject({ confirmed: true, stopped: false });
    await tell(made);
    expect(mails).toHaveLength(4);
    await notify(STRANGER.replace("elsewhere", "Elsewhere"), { event: "import-failed" });
    await idle();
    expect(mails).toHaveLength(4);
    const actions = (await auditOf(postgres.pg, { owner: world.organization, kind: "notification" })).map(
      ({ action }) => action,
    );
    expect(actions).toContain("notifications.confirm-address");
  });

  test("can be asked at once where the mail server did not take the first mail", async () => {
    server.sendMail = () => Promise.reject(new Error("no mail server"));
    const [first, second] = [await notify(STRANGER), await notify(STRANGER)];
    await idle();
    await as("admin", `DELETE /v2/${world.organization}/notifications/${first.id}`);
    server.sendMail = async () => undefined;
    expect((await ask("admin", second)).status).toBe(200);
    await passTime("2 minutes");
    await idle();
    expect(mails).toHaveLength(1);
    await confirm(mails[0]);
    expect(await read(second)).toMatchObject({ confirmed: true });
  });

  test("that confirmed for one owner has not for another", async () => {
    await notify(STRANGER);
    await idle();
    await confirm(mails[0]);
    const other = await notify(STRANGER, { owner: await otherOwner(), by: "stranger" });
    await tell(other);
    expect(mails).toHaveLength(2);
    expect(mails[1]?.subject).toContain(other.owner);
    const own = new URL(linkIn(mails[0], "confirm-address"));
    const theirs = new URL(linkIn(mails[1], "confirm-address"));
    own.pathname = theirs.pathname;
    expect(
      (await fetch(own, { method: "POST", body: new URLSearchParams({ choice: "confirm" }) })).status,
    ).toBe(404);
    await tell(other);
    expect(mails).toHaveLength(2);
  });
});

test("a member's address gets mails at once, whatever the case of its domain", async () => {
  const made = await notify(`${world.names.member}@Example.ORG`);
  expect(made).toMatchObject({ confirmed: true, stopped: false });
  await tell(made);
  expect(mails.map(({ subject }) => subject.includes("confirm"))).toEqual([false, false, false]);
  const text = "delete from memberships where account_id = (select id from owners where name = $1)";
  await postgres.pg.query(text, [world.names.member]);
  await tell(made);
  expect(mails).toHaveLength(3);
  expect(await read(made)).toMatchObject({ confirmed: false });
});

describe("a link to confirm", () => {
  test("that is forged or of nothing is not found", async () => {
    await notify(STRANGER);
    await idle();
    const url = linkIn(mails[0], "confirm-address");
    const [base = ""] = url.split("?");
    for (const wrong of [
      base,
      `${base}?token=`,
      url.slice(0, -3),
      `${url}&token=x`,
      url.replace(/.{4}\?/, "0000?"),
    ])
      expect((await fetch(wrong, { method: "POST" })).status, wrong).toBe(404);
  });

  test("expires after seven days, and then the address may be asked again", async () => {
    const made = await notify(STRANGER);
    await idle();
    await passTime("7 days");
    const [first] = mails;
    const url = linkIn(first, "confirm-address");
    expect(await choose(url, "confirm")).toContain("This link has expired");
    expect(await read(made)).toMatchObject({ confirmed: false });
    expect((await ask("admin", made)).status).toBe(200);
    await idle();
    expect(mails).toHaveLength(2);
    expect(await choose(url, "confirm")).toContain("This link has expired");
    await confirm(mails[1]);
    expect(await read(made)).toMatchObject({ confirmed: true });
  });

  test("that was used does not undo a stop", async () => {
    const made = await notify(STRANGER);
    await idle();
    await confirm(mails[0]);
    await tell(made);
    await choose(linkIn(mails[1], "unsubscribe"), "owner");
    expect(await choose(linkIn(mails[0], "confirm-address"), "confirm")).toContain("unsubscribed");
    expect(await read(made)).toMatchObject({ confirmed: false, stopped: true });
  });

  test("also stops every mail of the service", async () => {
    await notify(STRANGER);
    await idle();
    expect(await choose(linkIn(mails[0], "confirm-address"), "service")).toContain(
      "emails from this service",
    );
    const other = await notify(STRANGER.toUpperCase(), { owner: await otherOwner(), by: "stranger" });
    await tell(other);
    expect(mails).toHaveLength(1);
    const read = await as("stranger", `GET /v2/${other.owner}/notifications/${other.id}`);
    expect(read.body).toMatchObject({ confirmed: false, stopped: true });
  });
});

describe("a receiver who stops", () => {
  async function confirmed(): Promise<{ made: NotificationRecord; other: NotificationRecord }> {
    const made = await notify(STRANGER);
    const other = await notify(STRANGER, { event: "monthly-digest" });
    await idle();
    await confirm(mails[0]);
    await tell(made);
    mails.splice(0, 1);
    return { made, other };
  }
  const url = () => linkIn(mails[0], "unsubscribe");

  test("is not mailed under another spelling of the inbox, and one owner asks no two of them in a week", async () => {
    await confirmed();
    await choose(url(), "service");
    const before = mails.length;
    const tagged = await notify("grace+news@elsewhere.example", {
      owner: await otherOwner(),
      by: "stranger",
    });
    await tell(tagged);
    const read = await as("stranger", `GET /v2/${tagged.owner}/notifications/${tagged.id}`);
    expect(read.body).toMatchObject({ confirmed: false, stopped: true });
    await notify("ida@elsewhere.example");
    await notify("ida+2@elsewhere.example");
    await idle();
    expect(mails).toHaveLength(before + 1);
  });

  test("by a click on the mail that asks stops the whole service, also after its owner is gone", async () => {
    const owner = await otherOwner();
    await notify(STRANGER, { owner, by: "stranger" });
    await idle();
    const link = atApi(mails[0]?.unsubscribeUrl ?? "");
    await postgres.pg.query(
      "delete from notifications where owner_id = (select id from owners where name = $1)",
      [owner],
    );
    expect((await fetch(link, { method: "POST" })).status).toBe(200);
    await tell(await notify(STRANGER));
    expect(mails).toHaveLength(1);
  });

  test.each(["owner", "service"])(
    "%s gets none of its mails, also of notifications that come later",
    async (scope) => {
      const { made, other } = await confirmed();
      await choose(url(), scope);
      await as("owner", `DELETE /v2/${world.organization}/notifications/${made.id}`);
      const before = mails.length;
      await tell(await notify(STRANGER), await notify("GRACE@elsewhere.example"), other);
      expect(mails).toHaveLength(before);
    },
  );

  test("one owner still gets mails of another", async () => {
    await confirmed();
    await choose(url(), "owner");
    const before = mails.length;
    await notify(STRANGER, { owner: await otherOwner(), by: "stranger" });
    await idle();
    expect(mails).toHaveLength(before + 1);
    await confirm(mails.at(-1));
  });

  test("by a click in the mail program ends all mails of the owner, also after the notification is deleted", async () => {
    const { made, other } = await confirmed();
    const link = url();
    await as("owner", `DELETE /v2/${world.organization}/notifications/${made.id}`);
    const click = new FormData();
    click.set("List-Unsubscribe", "One-Click");
    expect((await fetch(link, { method: "POST", body: click })).status).toBe(200);
    expect(await read(other)).toMatchObject({ confirmed: false, stopped: true });
  });

  test.each(["owner", "service"])("%s undoes it with the link of the same mail", async (scope) => {
    const { made } = await confirmed();
    await choose(url(), scope);
    expect(await read(made)).toMatchObject({ confirmed: false, stopped: true });
    expect(await choose(url(), "resume")).toContain("Choose which emails to stop");
    expect(await read(made)).toMatchObject({ confirmed: true, stopped: false });
    const before = mails.length;
    await tell(made);
    expect(mails).toHaveLength(before + 3);
  });

  test("keeps the link to that from everybody who manages the notification", async () => {
    const made = await notify(STRANGER, { event: "import-failed" });
    await idle();
    await confirm(mails[0]);
    const preview = await as("owner", `GET /v2/${world.organization}/notifications/${made.id}/preview`);
    expect(preview.status).toBe(200);
    expect(JSON.stringify(preview.body)).toContain(`/unsubscribe/${made.id}`);
    expect(JSON.stringify(preview.body)).not.toContain("token=");
  });
});

const ask = (who: Parameters<typeof as>[0], { owner, id }: NotificationRecord) =>
  as(who, `POST /v2/${owner}/notifications/${id}/confirmation`);

describe("asking again", () => {
  test("is for those who manage notifications alone", async () => {
    const made = await notify(STRANGER);
    await idle();
    await passTime("7 days");
    expect(await ask("member", made)).toMatchObject(refused(403, "forbidden"));
    expect(await ask("stranger", made)).toMatchObject(refused(404, "not-found"));
    const packageId = await makePackage({ name: "web", libraryType: "npm" });
    await giveLevel("admin", packageId, "blocked");
    expect(await ask("admin", made)).toMatchObject(refused(403, "forbidden"));
    await idle();
    expect(mails).toHaveLength(1);
    expect((await ask("owner", made)).status).toBe(200);
    await idle();
    expect(mails).toHaveLength(2);
    expect(mails[1]?.text).toContain(`"${world.names.owner}" wants`);
  });

  test("has to wait seven days, and is needless for who confirmed or stopped, and for a chat", async () => {
    const made = await notify(STRANGER);
    await idle();
    const early = await ask("admin", made);
    expect(early).toMatchObject(refused(429, "rate-limited"));
    expect((early.body as { message: string }).message).toMatch(/only once every 7 days\. Try again after/);
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(6 * 24 * 3_600);
    await confirm(mails[0]);
    expect(await ask("admin", made)).toMatchObject(refused(409, "no-confirmation-needed"));
    await choose(linkIn(mails[0], "confirm-address"), "owner");
    const stopped = await ask("admin", made);
    expect(stopped).toMatchObject(refused(409, "no-confirmation-needed"));
    expect((stopped.body as { message: string }).message).toContain("Only the receiver can undo this");
    const slack = { event: "import-failed", channel: "slack", target: "http://127.0.0.1:59999/" };
    const chat = await as("admin", `POST /v2/${world.organization}/notifications`, slack);
    expect(await ask("admin", chat.body as NotificationRecord)).toMatchObject(
      refused(409, "no-confirmation-needed"),
    );
    expect(chat.body).not.toHaveProperty("confirmed");
  });
});

test("a message by hand goes to no receiver who has not confirmed", async () => {
  const made = await notify(STRANGER, { event: "import-failed" });
  await idle();
  const sent = await as("admin", `POST /v2/${world.organization}/notifications/${made.id}/send`, {});
  expect(sent.body).toEqual({
    success: false,
    error: `${STRANGER} has not confirmed the address yet.`,
  });
  expect(mails).toHaveLength(1);
});

test("the page shows the state of each receiver, and asks again", async () => {
  const made = await notify(STRANGER);
  await notify(`${world.names.member}@example.org`);
  await idle();
  const at = `/o/${world.organization}/settings/notifications`;
  const admin = await visit(api.url, { username: world.names.admin, token: world.tokens.admin });
  const awaiting = await admin.get(at);
  expect(awaiting.text).toMatch(/grace@elsewhere\.example Email Awaiting confirmation Nothing is sent until/);
  expect(awaiting.text).toMatch(new RegExp(`${world.names.member}@example\\.org Email On Nothing sent yet`));
  expect(awaiting.html.match(/Resend confirmation/g)).toHaveLength(1);
  expect(awaiting.html.match(/Send now/g)).toHaveLength(1);
  const early = await admin.post(at, { action: `ask ${made.id}` });
  expect([early.status, early.text]).toEqual([429, expect.stringContaining("only once every 7 days")]);
  await passTime("7 days");
  const asked = await admin.submit(at, { action: `ask ${made.id}` });
  expect(asked.text).toContain("Confirmation email sent.");
  await idle();
  expect(mails).toHaveLength(2);
  await confirm(mails[1]);
  expect((await admin.get(at)).text).not.toContain("Awaiting confirmation");
  await choose(linkIn(mails[1], "confirm-address"), "service");
  const stopped = await admin.get(at);
  expect(stopped.text).toContain("Stopped The receiver unsubscribed. Only the receiver can undo this.");
  expect(stopped.html).not.toContain("Resend confirmation");
});
