import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NotificationRecord } from "../../../../schemas/contracts/notification.js";
import { type Receiver, openReceiver } from "../../../support/api/receivers.js";
import { visit } from "../../../support/dashboard/visitor.js";
import { makeOrganization } from "../../../support/imports/make-artifacts.js";
import { type SmtpReceiver, openSmtpReceiver } from "../../../support/notifications/smtp-receiver.js";
import { type Toolchain, startToolchain } from "../../../support/program/start-toolchain.js";

const SENT_BY_ATTACKERS = {
  Host: "evil.example",
  "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "https",
  Forwarded: "host=evil.example;proto=https",
};

describe.each([
  { variables: { PUBLIC_URL: "https://stats.acme.example/tools" }, base: "https://stats.acme.example/tools" },
  { variables: {}, base: "its own address" },
  // Then the headers of whoever asks are believed elsewhere.
  { variables: { TRUSTED_PROXIES: "127.0.0.1" }, base: undefined },
])("with $variables, links in mails and chats lead to $base", ({ variables, base: wanted }) => {
  let smtp: SmtpReceiver;
  let chat: Receiver;
  let toolchain: Toolchain;
  let token: string;

  beforeAll(async () => {
    [smtp, chat] = await Promise.all([openSmtpReceiver(), openReceiver()]);
    const mail = {
      SMTP_URL: smtp.url,
      MAIL_FROM: "stats@acme.example",
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    };
    toolchain = await startToolchain({ prepared: ["databases"], env: { ...mail, ...variables } });
    const ada = await toolchain.newAccount("ada");
    ({ token } = ada);
    await makeOrganization(ada, "acme");
  });
  afterAll(async () => {
    await toolchain.close();
    await Promise.all([smtp, chat].map((each) => each[Symbol.asyncDispose]()));
  });

  const base = () => (wanted === "its own address" ? toolchain.api : wanted);

  /** As an attacker asks, who chooses every header. */
  function post<Answer>(path: string, body: object): Promise<Answer> {
    const { hostname, port } = new URL(toolchain.api);
    const headers = { ...SENT_BY_ATTACKERS, Authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, method: "POST", headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve(JSON.parse(text) as Answer)).on("error", reject);
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  }

  const create = (channel: string, target: string) =>
    post<NotificationRecord>("/v2/acme/notifications", { event: "import-failed", channel, target });
  const send = ({ id }: NotificationRecord) => post(`/v2/acme/notifications/${id}/send`, {});

  test("whatever the Host of whoever saved the notification, or sends a message by hand", async () => {
    const made = [await create("email", "ada@example.org"), await create("slack", chat.url)];
    for (const each of made) expect(await send(each)).toEqual({ success: true });
    const written = [JSON.stringify(smtp.mails), chat.received.map(({ body }) => body.toString()).join()];
    for (const text of written) {
      expect(text).toContain("import");
      expect(text).not.toContain("evil.example");
      if (base() === undefined) expect(text).not.toMatch(/https?:|unsubscribe/i);
      else expect(text).toContain(`${base()}/dashboard/o/acme/imports/`);
    }
    expect(smtp.mails).toHaveLength(1);
    const unsubscribe = base() === undefined ? undefined : `<${base()}/unsubscribe/${made[0]?.id}?token=`;
    expect(smtp.mails[0]?.headers["list-unsubscribe"]?.slice(0, unsubscribe?.length)).toBe(unsubscribe);
  });

  test("so that a stranger's address is asked by a link there, and by none where there is none", async () => {
    smtp.mails.length = 0;
    const made = await create("email", "grace@elsewhere.example");
    if (base() === undefined) {
      const error = async () =>
        (await post<{ message: string }>(`/v2/acme/notifications/${made.id}/confirmation`, {})).message;
      expect(await error()).toContain("PUBLIC_URL");
      expect(smtp.mails).toHaveLength(0);
      return;
    }
    await expect.poll(() => smtp.mails.length, { timeout: 15_000 }).toBe(1);
    const [{ parts } = { parts: {} }] = smtp.mails;
    const text = (parts as Record<string, string>)["text/plain"] ?? "";
    expect(text).toContain(`${base()}/confirm-address/`);
    expect(text).not.toContain("evil.example");
    const [url = "", confirmationToken = ""] = /http\S+token=(\S+)/.exec(text) ?? [];
    const confirmed = await fetch(url.replace(base() ?? "", toolchain.api), {
      method: "POST",
      body: new URLSearchParams({ choice: "confirm" }),
    });
    expect(await confirmed.text()).toContain("Address confirmed");
    await expect.poll(() => toolchain.log()).toContain("/confirm-address/");
    expect(toolchain.log()).not.toContain(confirmationToken.slice(0, 20));
  });

  test("and the page says what to set where PUBLIC_URL is not set", async () => {
    const ada = await visit(toolchain.api, { username: "ada", token });
    const page = await ada.get("/o/acme/settings/notifications");
    expect(page.text.includes("Set PUBLIC_URL to the URL")).toBe(!("PUBLIC_URL" in variables));
  });
});
