import { parse as parseCsv } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectApi, type ApiClient } from "../../../../deploy/demo/api-client.js";
import type { CompanyDetail, CompanyRecord, FunnelRecord } from "../../../../schemas/contracts/funnel.js";
import type { WebhookRecord } from "../../../../schemas/contracts/webhook.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { countDifferingRows } from "../../../faults/imports/check-seed.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { UUID } from "../../../support/api/management-world.js";
import {
  openReceiver,
  readAnnouncement,
  type AnnouncedCompany,
  type Announcement,
} from "../../../support/api/receivers.js";
import { readCompanyAddresses } from "../../../support/imports/company-addresses.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

/** By their domains, and two that are none. */
const ADDRESSES = new Map([
  ["an ISP", "2.58.100.1"],
  ["a cloud", "18.66.22.4"],
]);
const COMPANIES = await readCompanyAddresses();
for (const { domain, address } of COMPANIES) ADDRESSES.set(domain, address);

/** An organization that has a package and a pixel, and a system that hears of its companies. */
interface Listening {
  name: string;
  image: KnownArtifact;
  docs: KnownArtifact;
  /** Places its companies as of that day: what the program says, and the announcements that arrive, verified. */
  run(day: string): Promise<{ said: string; arrived: Announcement[] }>;
}

let toolchain: Toolchain;
let api: ApiClient;
let acme: Listening;
const receivers: AsyncDisposable[] = [];

beforeAll(async () => {
  // The time is moved by hand.
  const env = { FUNNEL_SCHEDULE: "0 0 29 2 *", WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" };
  toolchain = await startToolchain({ env, prepared: ["databases", "places"] });
  api = await toolchain.newAccount("ada");
  acme = await openListening("acme");
});

afterAll(async () => {
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  await toolchain?.close();
});

async function openListening(name: string): Promise<Listening> {
  await makeOrganization(api, name);
  await toolchain.admin("grant-export", name);
  const image = await makePackage(api, { organization: name, name: "image", libraryType: "docker" });
  const docs = await makePixel(api, { owner: name, name: "docs" });
  const receiver = await openReceiver();
  receivers.push(receiver);
  const body = { url: receiver.url, event_kinds: ["company-funnel-stage-changed"] };
  const { id, secret } = await api.post<WebhookRecord & { secret: string }>(`/v2/${name}/webhooks`, body);
  const states = async () => {
    const path = `/v2/${name}/webhooks/${id}/deliveries?per_page=100`;
    const { deliveries } = await read<{ deliveries: { state: string }[] }>(path);
    return deliveries.map(({ state }) => state);
  };
  return {
    name,
    image,
    docs,
    async run(day) {
      const before = receiver.received.length;
      const said = await run(name, "--as-of", day);
      await expect.poll(async () => [...new Set(await states())]).toEqual(["delivered"]);
      expect(receiver.received).toHaveLength((await states()).length);
      const arrived = receiver.received.slice(before).map((each) => readAnnouncement(each, secret));
      return { said, arrived };
    },
  };
}

interface Sent {
  of: KnownArtifact;
  by: string;
  on: string;
  times?: number;
  key?: string;
}

async function send(events: readonly Sent[], organization = "acme"): Promise<EventImport> {
  const lines = events.flatMap(({ of, by, on, times = 1, key }) =>
    Array.from({ length: times }, () =>
      JSON.stringify({
        $time: `${on}T12:00:00Z`,
        [`$${of.kind}`]: of.id,
        $remote_address: ADDRESSES.get(by),
        ...(key !== undefined && { $unique_id: key }),
      }),
    ),
  );
  const done = await api.pollToDone(await api.importBody(`/v2/${organization}/import`, lines.join("\n")));
  expect([done.status, done.events_successfully_imported]).toEqual(["done", lines.length]);
  return done;
}

const run = (...words: string[]) => toolchain.admin("funnel", "run", ...words);

async function read<T>(path: string): Promise<T> {
  const response = await api.request(path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as T;
}

async function stages(): Promise<Partial<Record<string, string>>> {
  const { companies } = await read<{ companies: CompanyRecord[] }>("/v2/acme/companies");
  return Object.fromEntries(companies.map(({ domain, stage }) => [domain, stage ?? "none"] as const));
}

const company = (domain: string, query = "") => read<CompanyDetail>(`/v2/acme/companies/${domain}${query}`);

const endOf = (day: string) => `${day}T23:59:59.999000Z`;

interface Month {
  day: string;
  events: () => Sent[];
  changes: AnnouncedCompany[];
}

const MONTHS: Month[] = [
  {
    day: "2025-01-10",
    events: () => [
      { of: acme.docs, by: "3m.com", on: "2025-01-05" },
      { of: acme.image, by: "adobe.com", on: "2025-01-06" },
      { of: acme.image, by: "airbus.com", on: "2025-01-02" },
      { of: acme.image, by: "airbus.com", on: "2025-01-04" },
      { of: acme.docs, by: "airbus.com", on: "2025-01-05" },
      { of: acme.image, by: "an ISP", on: "2025-01-05", times: 9 },
      { of: acme.image, by: "a cloud", on: "2025-01-05", times: 9 },
    ],
    changes: [
      { domain: "3m.com", name: "3M", new_stage: "interest" },
      { domain: "adobe.com", name: "Adobe", new_stage: "investigation" },
      { domain: "airbus.com", name: "Airbus", new_stage: "experimentation" },
    ],
  },
  {
    day: "2025-02-10",
    events: () => [
      ...[1, 2, 3, 4, 5].map((day) => ({ of: acme.image, by: "3m.com", on: `2025-02-0${day}`, times: 2 })),
      { of: acme.image, by: "airbus.com", on: "2025-02-03" },
    ],
    changes: [
      { domain: "3m.com", name: "3M", old_stage: "interest", new_stage: "experimentation" },
      { domain: "airbus.com", name: "Airbus", old_stage: "experimentation", new_stage: "investigation" },
    ],
  },
  {
    day: "2025-03-12",
    events: () => [{ of: acme.image, by: "airbus.com", on: "2025-03-05" }],
    changes: [
      { domain: "adobe.com", name: "Adobe", old_stage: "investigation", new_stage: "inactive" },
      { domain: "airbus.com", name: "Airbus", old_stage: "investigation", new_stage: "ongoing-usage" },
    ],
  },
  {
    day: "2025-04-20",
    events: () => [{ of: acme.docs, by: "adobe.com", on: "2025-04-15" }],
    changes: [
      { domain: "3m.com", name: "3M", old_stage: "experimentation", new_stage: "inactive" },
      { domain: "adobe.com", name: "Adobe", old_stage: "inactive", new_stage: "interest" },
    ],
  },
];

const NONE = { interest: 0, investigation: 0, experimentation: 0, "ongoing-usage": 0, inactive: 0 };

describe("over months of imports", () => {
  const placed: Record<string, string> = {};

  test.each(MONTHS)(
    "companies alone are placed as of $day, and each change of stage arrives once and signed",
    async ({ day, events, changes }) => {
      await send(events());
      for (const { domain, new_stage: stage } of changes) placed[domain] = stage;
      const said = (count: number) => `3 companies of 1 owner, ${count} stage changes.`;
      const event = {
        id: expect.stringMatching(UUID) as string,
        type: "company-funnel-stage-changed",
        owner: "acme",
        created_at: endOf(day),
        data: { companies: changes },
      };
      expect(await acme.run(day)).toEqual({ said: said(changes.length), arrived: [event] });
      expect(await stages()).toEqual(placed);
      expect(await acme.run(day)).toEqual({ said: said(0), arrived: [] });
      expect(await run("--as-of", day)).toBe(said(0));
    },
  );

  test("a company has its history and its days", async () => {
    const adobe = await company("adobe.com", "?startDate=2025-01-01&endDate=2025-05-01");
    expect(adobe).toEqual({
      ...{ domain: "adobe.com", name: "Adobe", stage: "interest", since: endOf("2025-04-20") },
      ...{ score: 0.5, downloads: 1, views: 1, first_seen: "2025-01-06", last_seen: "2025-04-15" },
      downloads_30_days: 0,
      stage_history: [
        { old_stage: "inactive", new_stage: "interest", cause: "view", changed_at: endOf("2025-04-20") },
        {
          old_stage: "investigation",
          new_stage: "inactive",
          cause: "no-activity",
          changed_at: endOf("2025-03-12"),
        },
        { new_stage: "investigation", cause: "download", changed_at: endOf("2025-01-06") },
      ],
      days: [
        { date: "2025-01-06", downloads: 1, views: 0 },
        { date: "2025-04-15", downloads: 0, views: 1 },
      ],
      artifacts: expect.arrayContaining([
        { kind: "package", id: acme.image.id, name: "image", downloads: 1, views: 0 },
        { kind: "pixel", id: acme.docs.id, name: "docs", downloads: 0, views: 1 },
      ]) as unknown,
    });
    expect((await company("airbus.com", "?startDate=2025-01-01&endDate=2025-05-01")).artifacts).toEqual([
      { kind: "package", id: acme.image.id, name: "image", downloads: 4, views: 0 },
      { kind: "pixel", id: acme.docs.id, name: "docs", downloads: 0, views: 1 },
    ]);
    expect((await company("adobe.com", "?startDate=2025-04-15&endDate=2025-04-16")).days).toHaveLength(1);
    expect((await company("airbus.com")).stage_history.map(({ cause }) => cause)).toEqual([
      "activity-in-three-windows",
      "download",
      "downloads-and-view",
      "download",
    ]);
  });

  test("the funnel counts them for each day, also between two runs", async () => {
    const funnel = await read<FunnelRecord>("/v2/acme/funnel?startDate=2025-01-01&endDate=2025-04-21");
    const first = { ...NONE, interest: 1, investigation: 1, experimentation: 1 };
    const second = { ...NONE, investigation: 2, experimentation: 1 };
    const third = { ...NONE, experimentation: 1, "ongoing-usage": 1, inactive: 1 };
    const last = { ...NONE, interest: 1, "ongoing-usage": 1, inactive: 1 };
    const on = Object.fromEntries(funnel.days.map(({ date, stages }) => [date, stages]));
    expect(on).toMatchObject({
      ...{ "2025-01-01": NONE, "2025-01-04": { ...NONE, investigation: 1 }, "2025-01-09": first },
      ...{ "2025-01-10": first, "2025-02-09": first, "2025-02-10": second },
      ...{ "2025-03-11": second, "2025-03-12": third, "2025-04-19": third, "2025-04-20": last },
    });
    expect([funnel.days.length, funnel.as_of, funnel.stages]).toEqual([110, endOf("2025-04-20"), last]);
  });

  test("the funnel counts nobody on days of long ago, and has no days that are to come", async () => {
    const daysOf = async (startDate: string, endDate: string) =>
      (await read<FunnelRecord>(`/v2/acme/funnel?startDate=${startDate}&endDate=${endDate}`)).days;
    expect(await daysOf("0000-02-28", "0000-03-01")).toEqual(
      ["0000-02-28", "0000-02-29"].map((date) => ({ date, stages: NONE })),
    );
    const now = Date.now();
    const day = (later: number) => new Date(now + later * 86_400_000).toISOString().slice(0, 10);
    expect((await daysOf(day(-1), day(5))).map(({ date }) => date)).toEqual([day(-1), day(0)]);
    expect(await daysOf(day(2), day(3))).toEqual([]);
  });

  test("a run as of an earlier time is refused, and so is one that is to come", async () => {
    await expect(run("acme", "--as-of", "2025-04-19")).rejects.toThrow(
      "The stages of this owner were last computed as of 2025-04-20T23:59:59.999Z",
    );
    expect(await run("--as-of", "2025-04-19")).toBe(
      "0 companies of 0 owners, 0 stage changes. 1 owner skipped because their last run is later.",
    );
    await expect(run("--as-of", "2124-01-01")).rejects.toThrow("is in the future");
    await expect(run("nobody")).rejects.toThrow("The user or organization nobody does not exist.");
  });
});

describe("the list of companies", () => {
  const domains = async (query: string) =>
    (await read<{ companies: CompanyRecord[] }>(`/v2/acme/companies?${query}`)).companies.map(
      ({ domain }) => domain,
    );

  test.each([
    ["sort=score", "adobe.com 3m.com airbus.com"],
    ["", "adobe.com 3m.com airbus.com"],
    ["sort=downloads", "3m.com airbus.com adobe.com"],
    ["sort=last_seen", "adobe.com airbus.com 3m.com"],
    ["sort=first_seen", "adobe.com 3m.com airbus.com"],
    ["sort=since", "3m.com adobe.com airbus.com"],
    ["sort=name", "3m.com adobe.com airbus.com"],
    ["first_seen_from=2025-01-05&sort=name", "3m.com adobe.com"],
    ["package=image&stage=inactive", "3m.com"],
    ["stage=inactive", "3m.com"],
    ["search=AIRB", "airbus.com"],
    ["search=.com&stage=interest", "adobe.com"],
    ["search=%25", ""],
    ["search=3M&search=airbus&sort=name", "3m.com airbus.com"],
  ])("with %j", async (query, expected) => {
    expect((await domains(query)).join(" ")).toBe(expected);
  });

  test.each(["score", "downloads", "last_seen", "since", "name"])(
    "by %s is the same in pages",
    async (sort) => {
      const whole = await domains(`sort=${sort}`);
      const paged: string[] = [];
      let next: string | undefined = `${toolchain.api}/v2/acme/companies?sort=${sort}&per_page=1`;
      for (let pages = 0; next !== undefined && pages < 5; pages += 1) {
        const page: { companies: CompanyRecord[]; next?: string } = await read(
          next.slice(toolchain.api.length),
        );
        paged.push(...page.companies.map(({ domain }) => domain));
        next = page.next;
      }
      expect([paged, next]).toEqual([whole, undefined]);
    },
  );

  test.each([1, 20])("is searched for up to 20 texts, and no empty one: %i fit", async (count) => {
    const query = "search=3m&".repeat(count - 1) + "search=airbus";
    expect(await domains(query)).toContain("airbus.com");
    const refused = await api.request(`/v2/acme/companies?${query}&${count === 1 ? "search=" : "search=x"}`);
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "invalid-query" }]);
  });

  test("says when its companies were placed, and nothing where no run has placed any", async () => {
    const { as_of: asOf } = await read<{ as_of: string }>("/v2/acme/funnel");
    expect(await read<object>("/v2/acme/companies?search=nobody")).toEqual({ as_of: asOf, companies: [] });
    const eve = await toolchain.newAccount("eve");
    expect(await eve.get("/v2/eve/companies")).toEqual({ companies: [] });
  });

  const asked = (accept: string) => api.request("/v2/acme/companies?per_page=2", { headers: { accept } });

  test("comes as NDJSON and as CSV where these are asked for, with the next page in a header", async () => {
    const { companies } = await read<{ companies: CompanyRecord[] }>("/v2/acme/companies?per_page=2");
    const lines = await asked("application/x-ndjson");
    expect(lines.headers.get("content-type")).toBe("application/x-ndjson");
    expect(
      (await lines.text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(companies);
    expect(lines.headers.get("link")).toMatch(/^<http.*after=.*>; rel="next"$/);
    const csv = await asked("text/csv");
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const rows = parseCsv<Record<string, string>>(await csv.text(), { columns: true });
    const texts = companies.map((each) =>
      Object.fromEntries(Object.entries(each).map(([k, v]) => [k, String(v)])),
    );
    expect(rows).toEqual(texts);
  });

  test("comes as NDJSON and as CSV to nobody where export is not granted", async () => {
    await toolchain.admin("revoke-export", "acme");
    const answers = await Promise.all(
      ["application/json", "application/x-ndjson", "text/csv"].map((accept) => asked(accept)),
    );
    await toolchain.admin("grant-export", "acme");
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
    for (const refused of answers.slice(1))
      expect(await refused.json()).toMatchObject({ code: "export-not-granted" });
  });
});

async function activity({ id }: KnownArtifact): Promise<string[]> {
  const query = `
    SELECT toString(date) AS date, company_domain AS domain, toString(sum(total)) AS total FROM company_activity
    WHERE artifact = '${id}' GROUP BY date, domain HAVING sum(company_activity.total) != 0 ORDER BY date, domain`;
  await using client = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  const answer = await client.query({ query, format: "JSONEachRow" });
  const found = await answer.json<{ date: string; domain: string; total: string }>();
  return found.map(({ date, domain, total }) => `${date} ${domain} ${total}`);
}

/** On all servers, each of which has views of its own. */
async function differingRows({ id }: KnownArtifact) {
  const found = [];
  for (const url of toolchain.clickhouseServers) {
    await using client = connectClickHouse(url);
    const ask = async <Row>(query: string) =>
      (await client.query({ query, format: "JSONEachRow" })).json<Row>();
    found.push(...(await countDifferingRows({ rows: ask }, id)));
  }
  return found;
}

describe("the daily activity", () => {
  test("follows overrides, retractions and deletions exactly", async () => {
    await makeOrganization(api, "moving");
    const files = await makePackage(api, { organization: "moving", name: "files", libraryType: "other" });
    await send(
      [
        { of: files, by: "3m.com", on: "2025-01-01", key: "a" },
        { of: files, by: "3m.com", on: "2025-01-01", key: "b" },
      ],
      "moving",
    );
    expect(await activity(files)).toEqual(["2025-01-01 3m.com 2"]);
    const later = await send(
      [
        { of: files, by: "adobe.com", on: "2025-01-02", key: "a" },
        { of: files, by: "an ISP", on: "2025-01-01", key: "b" },
      ],
      "moving",
    );
    expect(await activity(files)).toEqual(["2025-01-02 adobe.com 1"]);
    const gone = await api.request(`/v2/imports/moving/${later.id}`, { method: "DELETE" });
    expect(gone.status).toBe(204);
    await expect.poll(() => activity(files)).toEqual(["2025-01-01 3m.com 2"]);
    expect(await differingRows(files)).toEqual([]);
    const unheard = {
      artifact: files.id,
      kind: "package",
      date: "2025-01-01",
      company: "",
      company_domain: "x",
    };
    await using server = connectClickHouse(toolchain.clickhouseServers[0] ?? "");
    await server.insert({
      table: "company_activity",
      values: [{ ...unheard, total: 1 }],
      format: "JSONEachRow",
      clickhouse_settings: { insert_quorum: "auto" },
    });
    expect(await differingRows(files)).toContainEqual({ view: "company_activity_view", rows: 1 });
    expect((await api.request(`/v1/packages/${files.id}`, { method: "DELETE" })).status).toBe(204);
    await expect.poll(() => activity(files)).toEqual([]);
  });
});

test("a list of companies has the downloads of each day that it is asked for, and those of one package alone", async () => {
  await makeOrganization(api, "daily");
  const files = await makePackage(api, { organization: "daily", name: "files", libraryType: "other" });
  const other = await makePackage(api, { organization: "daily", name: "other", libraryType: "other" });
  const on = new Date().toISOString().slice(0, 10);
  await send(
    [
      { of: files, by: "3m.com", on, times: 2 },
      { of: other, by: "adobe.com", on },
    ],
    "daily",
  );
  await run("daily");
  const listed = async (query: string) =>
    (await read<{ companies: CompanyRecord[] }>(`/v2/daily/companies?${query}`)).companies;
  const [first, ...others] = await listed("package=files&days=3");
  expect([first?.domain, first?.downloads_30_days, others]).toEqual(["3m.com", 2, []]);
  expect(first?.daily_downloads).toEqual(expect.arrayContaining([0, 0, 2]));
  expect((await listed("sort=name")).map((each) => each.daily_downloads)).toEqual([undefined, undefined]);
  const refused = await Promise.all(
    ["package=web", "days=0", "first_seen_from=2025-02-30"].map((query) =>
      api.request(`/v2/daily/companies?${query}`),
    ),
  );
  expect(refused.map(({ status }) => status)).toEqual([404, 400, 400]);
});

describe("importance", () => {
  const PATH = "/v2/acme/funnel/importance";

  test("set for a package changes what its downloads are worth, from the next run on", async () => {
    const before = await read<object>(PATH);
    expect(before).toEqual({
      packages: [{ id: acme.image.id, importance: "medium" }],
      pixels: [{ id: acme.docs.id, importance: "medium" }],
    });
    const put = async (body: object) => {
      const answer = await api.request(PATH, { method: "PUT", body: JSON.stringify(body) });
      return [answer.status, (await answer.json()) as object];
    };
    const wanted = {
      packages: [{ id: acme.image.id, importance: "high" }],
      pixels: [{ id: acme.docs.id, importance: "low" }],
    };
    const byName = { ...wanted, packages: [{ id: "image", importance: "high" }] };
    expect(await put(byName)).toEqual([200, wanted]);
    expect(await read<object>(PATH)).toEqual(wanted);
    await send([{ of: acme.image, by: "adobe.com", on: "2025-06-01" }]);
    await run("acme", "--as-of", "2025-06-02");
    expect((await company("adobe.com")).score).toBe(8);
    expect(await put({ packages: [], pixels: [] })).toEqual([200, before]);
    await run("acme", "--as-of", "2025-06-03");
    expect((await company("adobe.com")).score).toBe(5);
    const entries = await read<{ audit_entries: { changes: object }[] }>(
      "/v2/acme/audit?action=funnel.manage",
    );
    expect(entries.audit_entries.at(-1)?.changes).toEqual(wanted);
    const unknown = { packages: [{ id: acme.docs.id, importance: "high" }], pixels: [] };
    expect(await put(unknown)).toEqual([
      422,
      expect.objectContaining({ errors: [expect.objectContaining({ path: "/packages/0/id" })] }),
    ]);
  });
});

describe("the past before a company was announced", () => {
  let old: Listening;
  let first: EventImport;
  const historyOf = async (domain: string) =>
    (await read<CompanyDetail>(`/v2/old/companies/${domain}`)).stage_history
      .map(({ changed_at: at, new_stage: stage }) => `${at.slice(0, 10)} ${stage}`)
      .reverse();
  const onDay = async (day: string, after: string) =>
    (await read<FunnelRecord>(`/v2/old/funnel?startDate=${day}&endDate=${after}`)).days[0]?.stages;

  test("is computed day by day from old events, and nobody hears of it", async () => {
    old = await openListening("old");
    first = await send(
      [
        { of: old.image, by: "adobe.com", on: "2024-01-10" },
        { of: old.docs, by: "3m.com", on: "2024-02-20" },
      ],
      "old",
    );
    await send([{ of: old.image, by: "3m.com", on: "2025-02-20" }], "old");
    const { arrived } = await old.run("2025-03-01");
    expect(arrived.map(({ data }) => data.companies)).toEqual([
      [{ domain: "3m.com", name: "3M", new_stage: "investigation" }],
    ]);
    expect(await historyOf("adobe.com")).toEqual(["2024-01-10 investigation", "2024-03-10 inactive"]);
    expect(await historyOf("3m.com")).toEqual(["2024-02-20 interest", "2025-02-20 investigation"]);
    const { companies } = await read<{ companies: CompanyRecord[] }>("/v2/old/companies");
    expect(companies.map(({ stage, since }) => [stage, since])).toEqual([
      ["investigation", endOf("2025-02-20")],
      ["inactive", endOf("2024-03-10")],
    ]);
    expect(await onDay("2024-03-09", "2024-03-10")).toEqual({ ...NONE, interest: 1, investigation: 1 });
    expect(await onDay("2025-03-01", "2025-03-02")).toEqual({ ...NONE, investigation: 1, inactive: 1 });
  });

  test("is computed anew when its events are taken back or more come, and what was announced stays", async () => {
    await send([{ of: old.image, by: "3m.com", on: "2024-12-24" }], "old");
    const gone = await api.request(`/v2/imports/old/${first.id}`, { method: "DELETE" });
    expect(gone.status).toBe(204);
    await expect.poll(() => activity(old.image)).toEqual(["2024-12-24 3m.com 1", "2025-02-20 3m.com 1"]);
    await expect.poll(() => run("old", "--as-of", "2025-03-02")).toContain("1 company of 1 owner");
    expect((await old.run("2025-03-02")).arrived).toEqual([]);
    expect(await historyOf("3m.com")).toEqual(["2024-12-24 investigation"]);
    const { status } = await api.request("/v2/old/companies/adobe.com");
    expect([status, await onDay("2024-03-09", "2024-03-10")]).toEqual([404, NONE]);
    expect(await onDay("2025-03-01", "2025-03-02")).toEqual({ ...NONE, investigation: 1 });
  });
});

test("250 companies arrive in batches of at most 100", async () => {
  const many = await openListening("many");
  const companies = COMPANIES.slice(0, 250).sort((a, b) => (a.domain < b.domain ? -1 : 1));
  const ids = new Set<string>();
  for (const { of, on, day, change } of [
    { of: many.docs, on: "2025-01-05", day: "2025-01-10", change: { new_stage: "interest" } },
    {
      of: many.image,
      on: "2025-01-11",
      day: "2025-01-12",
      change: { old_stage: "interest", new_stage: "investigation" },
    },
  ]) {
    const events = companies.map(({ domain }) => ({ of, by: domain, on }));
    await send(events, "many");
    const { arrived } = await many.run(day);
    const told = arrived.map(({ data }) => data.companies);
    expect(told.map(({ length }) => length).sort((a, b) => b - a)).toEqual([100, 100, 50]);
    expect(told.flat().sort((a, b) => (a.domain < b.domain ? -1 : 1))).toEqual(
      companies.map(({ domain, name }) => ({ domain, name, ...change })),
    );
    for (const { id } of arrived) ids.add(id);
  }
  expect(ids.size).toBe(6);
});

describe("without a running server", () => {
  test("a run starts the stores for the moment, and the server finds what it did", async () => {
    await toolchain.kill("SIGTERM");
    expect(await run("acme", "--as-of", "2025-09-01")).toBe("3 companies of 1 owner, 1 stage change.");
    await toolchain.restart();
    api = connectApi(toolchain.api, api.token);
    expect(await stages()).toEqual({
      "3m.com": "inactive",
      "adobe.com": "inactive",
      "airbus.com": "inactive",
    });
  });
});
