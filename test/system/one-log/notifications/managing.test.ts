import { expect, test } from "vitest";
import { createGuard } from "../../../../api/base/outbound/guard-address.js";
import { createSealer } from "../../../../api/base/identity/tokens.js";
import { notificationRoutes } from "../../../../api/features/notifications/notification-routes.js";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import type { NotificationRecord } from "../../../../schemas/contracts/notification.js";
import { SECRET_KEY } from "../../../support/api/management-api.js";
import { auditOf } from "../../../support/api/management-world.js";
import {
  as,
  faultsOf,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../support/api/use-world.js";

const URL_SECRET = "https://8.8.8.8/services/T000/a-secret-path";
const SLACK = { event: "import-failed", channel: "slack", target: URL_SECRET };
let sendsMail = false;

useWorld(({ pg }) => {
  const deps = {
    pg,
    guard: createGuard({ allowPrivateNetworks: false }),
    sealer: createSealer(SECRET_KEY, "notification-target"),
    quotas: { ...DEFAULT_QUOTAS, notifications: 2 },
  };
  const [mute, able] = [{}, { sendMail: () => Promise.resolve() }].map((more) =>
    notificationRoutes({ ...deps, ...more }),
  );
  const routes = (able ?? []).map((each, nth) => ({
    ...each,
    handle: (call: Parameters<typeof each.handle>[0]) =>
      (sendsMail ? each : (mute?.[nth] ?? each)).handle(call),
  }));
  return { routes };
});

const path = () => `/v2/${world.organization}/notifications`;
const create = (body: object) => as("admin", `POST ${path()}`, body);

async function made(body: object = SLACK): Promise<NotificationRecord> {
  const answer = await create(body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as NotificationRecord;
}

test("answers show the host of a URL alone, and so does the audit log", async () => {
  const record = await made();
  expect(record).toMatchObject({ threshold_percent: 1, target: "8.8.8.8", enabled: true });
  await as("admin", `PUT ${path()}/${record.id}`, { target: `${URL_SECRET}/other` });
  expect((await as("owner", `GET ${path()}/${record.id}`)).body).toMatchObject({ target: "8.8.8.8" });
  const entries = await auditOf(postgres.pg, { owner: world.organization, kind: "notification" });
  expect(entries.map(({ action }) => action)).toEqual(["notifications.manage", "notifications.manage"]);
  expect(JSON.stringify(entries)).not.toContain("a-secret-path");
  expect(entries[1]?.changes).toMatchObject({ target: "8.8.8.8" });
  const { rows } = await postgres.pg.query<{ target: Buffer }>(
    "select target from notifications where id = $1",
    [record.id],
  );
  expect(rows[0]?.target.toString()).not.toContain("a-secret-path");
});

test.each([
  ["an unknown event", { ...SLACK, event: "sunrise" }, ["/event"]],
  ["an unknown channel", { ...SLACK, channel: "pager" }, ["/channel"]],
  ["no target", { ...SLACK, target: undefined }, ["/target"]],
  ["an unknown field", { ...SLACK, color: "red" }, ["/color"]],
  [
    "a threshold of an event without one",
    { ...SLACK, event: "weekly-digest", threshold_percent: 5 },
    ["/threshold_percent"],
  ],
  ["a threshold below 0", { ...SLACK, threshold_percent: -1 }, ["/threshold_percent"]],
  ["a package of a webhook", { ...SLACK, event: "webhook-disabled", package: "web" }, ["/package"]],
  ["a package that is not there", { ...SLACK, package: "nothing" }, ["/package"]],
  ["no address", { ...SLACK, channel: "email" }, ["/target"]],
  ["two addresses", { ...SLACK, channel: "email", target: "a@example.org,b@example.org" }, ["/target"]],
])("%s is refused by its field", async (_, body, paths) => {
  const answer = await create(body);
  expect(answer).toMatchObject(refused(422, "invalid-body"));
  expect(faultsOf(answer)).toEqual(paths);
});

test("URLs pass the guard of webhooks", async () => {
  for (const target of [
    "http://127.0.0.1/x",
    "http://169.254.169.254/",
    "http://localhost/",
    "http://[::1]/",
    "ftp://8.8.8.8/",
    "x",
  ])
    expect(await create({ ...SLACK, target }), target).toMatchObject(refused(422, "webhook-url-not-allowed"));
  const { id } = await made();
  const put = (body: object) => as("admin", `PUT ${path()}/${id}`, body);
  expect(await put({ target: "http://10.0.0.1/" })).toMatchObject(refused(422, "webhook-url-not-allowed"));
  expect(faultsOf(await put({ channel: "email" }))).toEqual(["/target"]);
});

test("mails need a mail server", async () => {
  const mail = { event: "weekly-digest", channel: "email", target: "ada@example.org" };
  expect(await create(mail)).toMatchObject(refused(422, "email-not-configured"));
  sendsMail = true;
  expect(await made(mail)).toMatchObject({ target: "ada@example.org", channel: "email" });
  sendsMail = false;
});

test("a change keeps what it leaves out, and another event has its own threshold", async () => {
  const packageId = await makePackage({ name: "web", libraryType: "npm" });
  const { id } = await made({ ...SLACK, package: "web", threshold_percent: 7 });
  const put = async (body: object) => (await as("admin", `PUT ${path()}/${id}`, body)).body;
  expect(await put({ enabled: false })).toMatchObject({
    package_id: packageId,
    threshold_percent: 7,
    enabled: false,
  });
  expect(await put({ event: "downloads-changed" })).toMatchObject({
    package_id: packageId,
    threshold_percent: 50,
  });
  const digest = (await put({ event: "weekly-digest", package: null })) as object;
  expect(digest).not.toHaveProperty("threshold_percent");
  expect(digest).not.toHaveProperty("package_id");
});
