import type { Pool } from "pg";
import { afterEach, beforeEach, expect } from "vitest";
import { DEFAULT_QUOTAS } from "../../../api/base/access/quotas.js";
import { confirmationRoutes } from "../../../api/features/notifications/confirmation-routes.js";
import type { Mail } from "../../../api/features/notifications/mail.js";
import { mailPageRoutes } from "../../../api/features/notifications/mail-page-routes.js";
import { notificationRoutes } from "../../../api/features/notifications/notification-routes.js";
import { notificationSendRoutes } from "../../../api/features/notifications/send-routes.js";
import { startNotifications } from "../../../api/features/notifications/start-notifications.js";
import { createGuard } from "../../../api/base/outbound/guard-address.js";
import type { NotificationRecord } from "../../../schemas/contracts/notification.js";
import type { Who } from "../api/management-world.js";
import { api, as, postgres, useWorld, world } from "../api/use-world.js";
import { TARGETS } from "./put-notifications.js";

/** Where links of mails lead; see `open`. */
export const PUBLIC_URL = "https://stats.acme.example/tools";

/** The mails that were sent in the test that runs. */
export const mails: Mail[] = [];

/** Of the test that runs: its answer replaces that of the mail server. */
export const server: { sendMail: (mail: Mail) => Promise<void> } = { sendMail: async () => undefined };

/** The API with everything about notifications, and a worker that sends; a world for each test. */
export function useMailWorld(): void {
  useWorld(({ pg }) => {
    const deps = { ...sendDeps(), pg, quotas: DEFAULT_QUOTAS };
    return {
      routes: [
        ...notificationRoutes(deps),
        ...confirmationRoutes(deps),
        // Examples of failures read no events.
        ...notificationSendRoutes({ ...deps, clickhouse: undefined as never }),
      ],
      publicRoutes: mailPageRoutes({ pg, sealer: TARGETS, limit: async () => undefined }),
    };
  });
  let worker: AsyncDisposable | undefined;
  beforeEach(() => {
    mails.length = 0;
    server.sendMail = async () => undefined;
    worker = startNotifications({
      ...sendDeps(),
      pg: postgres.pg,
      onFailure: (error) => console.error(error),
      everyMs: 20,
    });
  });
  afterEach(async () => {
    await worker?.[Symbol.asyncDispose]();
    await postgres.pg.query("delete from owners");
    await postgres.pg.query("delete from mail_stops");
    await postgres.pg.query("delete from mail_counts");
  });
}

function sendDeps() {
  return {
    guard: createGuard({ allowPrivateNetworks: true }),
    sealer: TARGETS,
    linkBase: () => PUBLIC_URL,
    async sendMail(mail: Mail) {
      await server.sendMail(mail);
      mails.push(mail);
    },
  };
}

/** Creates a notification by mail. */
export async function notify(
  target: string,
  { by = "admin", owner = world.organization, event = "weekly-digest" }: Notified = {},
): Promise<NotificationRecord> {
  const made = await as(by, `POST /v2/${owner}/notifications`, { event, channel: "email", target });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body as NotificationRecord;
}

interface Notified {
  by?: Who;
  owner?: string;
  event?: string;
}

export async function read({ id, owner }: NotificationRecord): Promise<NotificationRecord> {
  return (await as("owner", `GET /v2/${owner}/notifications/${id}`)).body as NotificationRecord;
}

/** Resolves once the worker has nothing to send now. */
export async function idle(pg: Pool = postgres.pg): Promise<void> {
  const text = `
    select count(*)::int as due from notification_messages
    where state = 'pending' and (claim is not null or next_attempt_at <= clock_timestamp())`;
  const due = async () => (await pg.query<{ due: number }>(text)).rows[0]?.due;
  await expect.poll(due, { timeout: 60_000, interval: 20 }).toBe(0);
}

/** The address of the page that a mail has in its text, where it is served here. */
export function linkIn(mail: Mail | undefined, page: "confirm-address" | "unsubscribe"): string {
  const link = new RegExp(`${PUBLIC_URL}/${page}/\\S+`).exec(mail?.text ?? "")?.[0];
  if (link === undefined) throw new Error(`the mail has no link to ${page}`);
  return atApi(link);
}

/** A link of a mail, to the program of the test. */
export function atApi(link: string): string {
  return link.replace(PUBLIC_URL, api.url);
}

/** As the receiver's browser sends the page's form. */
export async function choose(url: string, choice: string): Promise<string> {
  const response = await fetch(url, { method: "POST", body: new URLSearchParams({ choice }) });
  expect(response.status).toBe(200);
  return response.text();
}

/** What the receiver of a confirmation mail does to get mails. */
export async function confirm(mail: Mail | undefined): Promise<void> {
  expect(await choose(linkIn(mail, "confirm-address"), "confirm")).toContain("Address confirmed");
}

/** As if mails had been counted, and receivers asked, this much earlier. */
export async function passTime(interval: string): Promise<void> {
  const { pg } = postgres;
  await pg.query("update mail_counts set sent_at = sent_at - $1::interval", [interval]);
  await pg.query("update mail_agreements set asked_at = asked_at - $1::interval", [interval]);
  await pg.query(
    "update notification_messages set next_attempt_at = next_attempt_at - $1::interval where state = 'pending'",
    [interval],
  );
}
