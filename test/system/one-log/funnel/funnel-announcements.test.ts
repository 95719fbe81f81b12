import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import {
  readAnnouncement,
  type Announcement,
  type AnnouncedCompany,
  openReceiver,
  type Receiver,
} from "../../../support/api/receivers.js";
import { readCompanyAddresses, type KnownCompany } from "../../../support/imports/company-addresses.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { UUID } from "../../../support/api/management-world.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

const COMPANIES = await readCompanyAddresses();
const [THREE_M, ADOBE, AIRBUS] = ["3m.com", "adobe.com", "airbus.com"].map(
  (domain) => COMPANIES.find((company) => company.domain === domain) as KnownCompany,
) as [KnownCompany, KnownCompany, KnownCompany];

let toolchain: Toolchain;
let api: ApiClient;

beforeAll(async () => {
  // The time is moved by hand.
  const env = { FUNNEL_SCHEDULE: "0 0 29 2 *", WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" };
  toolchain = await startToolchain({ env, prepared: ["databases", "places"] });
  api = await toolchain.newAccount("ada");
});

afterAll(() => toolchain?.close());

/** An organization that has a package and a pixel, and a system that hears of its companies. */
interface Listening extends AsyncDisposable {
  name: string;
  image: KnownArtifact;
  docs: KnownArtifact;
  receiver: Receiver;
  webhookPath: string;
  secret: string;
}

async function openListening(name: string): Promise<Listening> {
  await makeOrganization(api, name);
  const image = await makePackage(api, { organization: name, name: "image", libraryType: "docker" });
  const docs = await makePixel(api, { owner: name, name: "docs" });
  const receiver = await openReceiver();
  const body = { url: receiver.url, event_kinds: ["company-funnel-stage-changed"] };
  const { id, secret } = await api.post<WebhookRecord & { secret: string }>(`/v2/${name}/webhooks`, body);
  const webhookPath = `/v2/${name}/webhooks/${id}`;
  const close = () => receiver[Symbol.asyncDispose]();
  return { name, image, docs, receiver, webhookPath, secret, [Symbol.asyncDispose]: close };
}

interface Activity {
  of: KnownArtifact;
  by: KnownCompany;
  on: string;
}

async function send(owner: string, events: readonly Activity[]): Promise<void> {
  const lines = events.map(({ of, by, on }) =>
    JSON.stringify({ $time: `${on}T12:00:00Z`, [`$${of.kind}`]: of.id, $remote_address: by.address }),
  );
  const done = await api.pollToDone(await api.importBody(`/v2/${owner}/import`, lines.join("\n")));
  expect([done.status, done.events_successfully_imported]).toEqual(["done", events.length]);
}

/** Places the companies as of that day; answers what arrived for it, verified, when no more is to come. */
async function run({ name, receiver, webhookPath, secret }: Listening, day: string): Promise<Announcement[]> {
  const before = receiver.received.length;
  await toolchain.admin("funnel", "run", name, "--as-of", day);
  const deliveries = async () =>
    (await api.get<{ deliveries: { state: string }[] }>(`${webhookPath}/deliveries?per_page=100`)).deliveries;
  const states = async () => [...new Set((await deliveries()).map(({ state }) => state))];
  await expect.poll(states).toEqual(["delivered"]);
  expect(receiver.received).toHaveLength((await deliveries()).length);
  return receiver.received.slice(before).map((received) => readAnnouncement(received, secret));
}

const MONTHS: {
  day: string;
  events: (of: Listening) => Activity[];
  changes: AnnouncedCompany[];
}[] = [
  {
    day: "2025-01-10",
    events: ({ image, docs }) => [
      { of: docs, by: THREE_M, on: "2025-01-05" },
      { of: image, by: ADOBE, on: "2025-01-06" },
      { of: image, by: AIRBUS, on: "2025-01-02" },
      { of: image, by: AIRBUS, on: "2025-01-04" },
      { of: docs, by: AIRBUS, on: "2025-01-05" },
    ],
    changes: [
      { domain: "3m.com", name: "3M", new_stage: "interest" },
      { domain: "adobe.com", name: "Adobe", new_stage: "investigation" },
      { domain: "airbus.com", name: "Airbus", new_stage: "experimentation" },
    ],
  },
  {
    day: "2025-02-10",
    events: ({ image }) => [
      ...["2025-02-01", "2025-02-02", "2025-02-03", "2025-02-04"].flatMap((on) => [
        { of: image, by: THREE_M, on },
        { of: image, by: THREE_M, on },
      ]),
      { of: image, by: AIRBUS, on: "2025-02-03" },
    ],
    changes: [
      { domain: "3m.com", name: "3M", old_stage: "interest", new_stage: "experimentation" },
      { domain: "airbus.com", name: "Airbus", old_stage: "experimentation", new_stage: "investigation" },
    ],
  },
  {
    day: "2025-03-12",
    events: ({ image }) => [{ of: image, by: AIRBUS, on: "2025-03-05" }],
    changes: [
      { domain: "adobe.com", name: "Adobe", old_stage: "investigation", new_stage: "inactive" },
      { domain: "airbus.com", name: "Airbus", old_stage: "investigation", new_stage: "ongoing-usage" },
    ],
  },
];

test("over three months of imports each change of stage arrives, once and signed", async () => {
  await using acme = await openListening("acme");
  for (const { day, events, changes } of MONTHS) {
    await send("acme", events(acme));
    const arrived = await run(acme, day);
    expect(arrived).toEqual([
      {
        id: expect.stringMatching(UUID) as string,
        type: "company-funnel-stage-changed",
        owner: "acme",
        created_at: `${day}T23:59:59.999000Z`,
        data: { companies: changes },
      },
    ]);
    expect(await run(acme, day)).toEqual([]);
  }
  expect(new Set(acme.receiver.received.map(({ id }) => id)).size).toBe(MONTHS.length);
});

test("250 companies arrive in batches of at most 100", async () => {
  await using many = await openListening("many");
  const companies = COMPANIES.slice(0, 250);
  const sortedDomains = companies.map(({ domain }) => domain).sort();
  const byDomain = (domain: string) => companies.find((company) => company.domain === domain)?.name ?? "";
  const sizes = (arrived: readonly Announcement[]) =>
    arrived.map(({ data }) => data.companies.length).sort((a, b) => b - a);
  const told = (arrived: readonly Announcement[]) =>
    arrived.flatMap(({ data }) => data.companies).sort((a, b) => (a.domain < b.domain ? -1 : 1));

  await send(
    "many",
    companies.map((by) => ({ of: many.docs, by, on: "2025-01-05" })),
  );
  const first = await run(many, "2025-01-10");
  expect(sizes(first)).toEqual([100, 100, 50]);
  expect(told(first)).toEqual(
    sortedDomains.map((domain) => ({ domain, name: byDomain(domain), new_stage: "interest" })),
  );

  await send(
    "many",
    companies.map((by) => ({ of: many.image, by, on: "2025-01-11" })),
  );
  const second = await run(many, "2025-01-12");
  expect(sizes(second)).toEqual([100, 100, 50]);
  expect(told(second)).toEqual(
    sortedDomains.map((domain) => ({
      domain,
      name: byDomain(domain),
      old_stage: "interest",
      new_stage: "investigation",
    })),
  );
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(6);
});
