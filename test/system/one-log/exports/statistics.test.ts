import pg from "pg";
import { parse as parseCsv } from "csv-parse/sync";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { Random } from "../../../../deploy/demo/random.js";
import type { AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type { AggregateV1 } from "../../../../schemas/contracts/aggregate.js";
import type {
  Statistics,
  PackageStatistics,
  StatisticsListPage,
  StatisticsRow,
} from "../../../../schemas/contracts/statistics.js";
import { joinOrganization, setLevel } from "../../../support/api/management-world.js";
import { makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";
import { recountStatistics, type RecountQuery } from "../../../support/statistics/recount-statistics.js";
import { lineOf, sentEvent, type SentEvent, UNKNOWN_PLACE } from "../../../support/statistics/sent-events.js";
import { type Override, startOverride } from "../../../support/statistics/start-override.js";

const RANGE = { startDate: "2025-03-12", endDate: "2025-04-22" };
const PREVIOUS = { startDate: "2025-01-30", endDate: "2025-03-12" };
const YEAR_BEFORE = { startDate: "2024-03-12", endDate: "2024-04-22" };
/** From these to the ends of the ranges, and a little beyond. */
const DAYS = [
  ...Array.from({ length: 95 }, (_, day) => dayAfter("2025-01-25", day)),
  ...Array.from({ length: 20 }, (_, day) => dayAfter("2024-03-10", day)),
];
const EVENTS = 3_000;

const organization = "counting";
let pool: pg.Pool;
let as: Record<"owner" | "member" | "outsider", ApiClient>;
let artifacts: Record<"image" | "files" | "tool" | "wheel" | "site", KnownArtifact>;
let events: SentEvent[];

joinProgram("counting-ada", { organizations: [organization], name: "wholeProgram" });
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: program.endpoints.postgres, max: 1 });
  as = {
    owner: api,
    member: await program.newAccount("counting-bob"),
    outsider: await program.newAccount("counting-eve"),
  };
  await joinOrganization(pool, { organization, username: "counting-bob", role: "member" });
  const make = (name: string, libraryType: "docker" | "other" | "npm" | "pypi") =>
    makePackage(as.owner, { organization, name, libraryType });
  artifacts = {
    image: await make("image", "docker"),
    files: await make("files", "other"),
    tool: await make("tool", "npm"),
    wheel: await make("wheel", "pypi"),
    site: await makePixel(as.owner, { owner: organization, name: "site" }),
  };
  const random = new Random(41);
  events = Array.from({ length: EVENTS }, (_, index) =>
    withoutGoogle(
      sentEvent(random, {
        artifact: random.pickSkewed(Object.values(artifacts), 2),
        key: `event ${index}`,
        day: random.pick(DAYS),
      }),
    ),
  );
  await as.owner.pollToDone(await as.owner.importBody("/v2/counting/import", events.map(lineOf).join("")));
});

afterAll(() => pool?.end());

/** A company that the ranges before have, and the range has not. */
function withoutGoogle(event: SentEvent): SentEvent {
  const isIn = event.day >= RANGE.startDate && event.day < RANGE.endDate;
  return isIn && event.place.company[0] === "Google" ? { ...event, place: UNKNOWN_PLACE } : event;
}

function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

async function read(query: string, api = as.owner): Promise<Omit<Statistics, "complete_through">> {
  const { startDate, endDate } = RANGE;
  const path = `/v2/counting/stats?startDate=${startDate}&endDate=${endDate}&${query}`;
  const { complete_through: completeThrough, ...rest } = await api.get<Statistics>(path);
  expect(completeThrough).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  return rest;
}

interface Asked extends Omit<RecountQuery, "startDate" | "endDate" | "artifacts"> {
  query: string;
  /** Absent for all. */
  of?: keyof typeof artifacts;
}

const UNFILTERED: readonly Asked[] = [
  { query: "" },
  { query: "interval=week&compare=previous", interval: "week", before: PREVIOUS },
  { query: "interval=month&compare=year&limit=2", interval: "month", before: YEAR_BEFORE, limit: 2 },
  { query: "package=image&compare=previous", of: "image", before: PREVIOUS },
  { query: "package=files", of: "files" },
  { query: "package=tool&compare=previous", of: "tool", before: PREVIOUS },
  { query: "package=wheel", of: "wheel" },
  {
    query: "automated=exclude&compare=previous",
    before: PREVIOUS,
    keeps: ({ agent }) => agent.automated === "",
  },
  ...(["image", "files", "tool", "wheel"] as const).map((of) => ({
    query: `package=${of}&versions=minor&limit=100&compare=previous`,
    of,
    versions: "minor" as const,
    limit: 100,
    before: PREVIOUS,
  })),
  { query: "versions=major&limit=100", versions: "major", limit: 100 },
  { query: "automated=exclude&package=image", of: "image", keeps: ({ agent }) => agent.automated === "" },
];

const FILTERED: readonly Asked[] = [
  { query: "country=DE", keeps: ({ place }) => place.country === "DE" },
  {
    query: "country=DE&country=KR&client=curl&compare=previous&interval=week",
    before: PREVIOUS,
    interval: "week",
    keeps: ({ place, agent }) => place.country !== "" && agent.client[0] === "curl",
  },
  {
    query: "package=files&variable.channel=beta&variable.os=&limit=3",
    of: "files",
    limit: 3,
    keeps: ({ variables }) => variables["channel"] === "beta" && (variables["os"] ?? "") === "",
  },
  {
    query: "package=image&version=1.1&version=2.0-rc.1&compare=year&interval=month",
    of: "image",
    before: YEAR_BEFORE,
    interval: "month",
    keeps: ({ version }) => version === "1.1" || version === "2.0-rc.1",
  },
  ...(["files", "tool", "wheel"] as const).map((of) => ({
    query: `package=${of}&version=1.1`,
    of,
    keeps: ({ version }: SentEvent) => version === "1.1",
  })),
  {
    query: "package=wheel&versions=major&version=1.x&limit=100",
    of: "wheel",
    versions: "major",
    limit: 100,
    keeps: ({ version }: SentEvent) => /^v?0*1(?![0-9!])/.test(version),
  },
  {
    query: "package=image&version=1.10.x&version=latest",
    of: "image",
    keeps: ({ version }: SentEvent) => /^v?1\.10|^latest$/.test(version),
  },
  {
    query: "company_domain=google.com&company_domain=mercedes-benz.com",
    keeps: ({ place }) => place.company[1] !== "",
  },
  {
    query: "cloud_provider=Amazon+Web+Services&platform=Linux",
    keeps: ({ place, agent }) => place.cloud[0] !== "" && agent.platform === "Linux",
  },
  { query: "client=go&client_version=", keeps: ({ agent }) => agent.client[0] === "go" },
  { query: "pixel=site&compare=previous", of: "site", before: PREVIOUS },
  {
    query: "pixel=site&page=https://docs.example.org/install&interval=month",
    of: "site",
    interval: "month",
    keeps: ({ page }) => page.endsWith("/install"),
  },
  { query: "country=XX", keeps: () => false },
];

function recounted(now: readonly SentEvent[], { query: _query, of, ...recount }: Asked) {
  return recountStatistics(now, { ...RANGE, ...recount, ...(of !== undefined && { artifacts: ids(of) }) });
}

function ids(...names: (keyof typeof artifacts)[]): string[] {
  return names.map((name) => artifacts[name].id);
}

function expectAll(): void {
  test.each([...UNFILTERED, ...FILTERED].map((asked) => [asked.query, asked] as const))(
    "with ?%s",
    async (query, asked) => {
      expect(await read(query)).toEqual(recounted(events, asked));
    },
  );
}

describe("the statistics of an import equal its lines, counted one by one", () => {
  expectAll();

  test("and a package may be named by its id in any case", async () => {
    const query = `package=${artifacts.files.id.toUpperCase()}`;
    expect(await read(query)).toEqual(recounted(events, { query, of: "files" }));
  });
});

test("without filters they equal the aggregates for the same range", async () => {
  const lines = await as.owner.readAggregates("counting", RANGE);
  const { totals, series, breakdowns } = await read("package=image&limit=100");
  const ofImage = lines.filter((line) => line.package === artifacts.image.id);
  const total = (some: readonly AggregateV1[]) => some.reduce((sum, line) => sum + line.total, 0);
  const daily = ofImage.filter(({ breakdown }) => breakdown === "total");
  expect(totals.downloads).toBe(total(daily));
  expect(
    series
      .map((day) => [day.date, day.downloads, day.unique_addresses])
      .filter(([, downloads]) => downloads !== 0),
  ).toEqual(daily.map((line) => [line.date, line.total, line.unique_total]));
  // AggregateV1 has versions of docker packages alone.
  const versioned = lines.filter(({ breakdown }) => breakdown === "version");
  expect(new Set(versioned.map((line) => line.package))).toEqual(new Set(ids("image")));
  for (const [name, rows] of Object.entries(breakdowns)) {
    const ofList = ofImage.filter(({ breakdown }) => breakdown === name);
    expect(rows.reduce((sum, row) => sum + Number(row["downloads"]), 0)).toBe(total(ofList));
    for (const row of rows) {
      const same = ofList.filter((line) => {
        const { breakdown: _name, date: _date, package: _package, total: _total, ...values } = line;
        const { downloads: _downloads, share: _share, change: _change, ...fields } = row;
        return JSON.stringify(values) === JSON.stringify(fields);
      });
      expect([name, row["downloads"]]).toEqual([name, total(same)]);
    }
  }
});

describe("one list in full", () => {
  const path = (query: string) =>
    `/v2/counting/stats/client?startDate=${RANGE.startDate}&endDate=${RANGE.endDate}&${query}`;

  test("is paged, searched, and the same as CSV", async () => {
    const all = recountStatistics(events, { ...RANGE, before: PREVIOUS, limit: 100 }).breakdowns["client"];
    const rows: StatisticsRow[] = [];
    for (let next = path("compare=previous&per_page=2"); next !== undefined;) {
      const page = await as.owner.get<StatisticsListPage>(next);
      rows.push(...page.rows);
      expect(page.rows.length).toBeLessThanOrEqual(2);
      if (page.next === undefined) break;
      next = page.next;
    }
    expect(rows).toEqual(all);
    const answer = await as.owner.request(path("compare=previous"), { headers: { Accept: "text/csv" } });
    expect(answer.headers.get("content-type")).toContain("text/csv");
    const table = parseCsv<Record<string, string>>(await answer.text(), { columns: true });
    expect(table).toEqual(
      all?.map(({ client, client_version: version = "", downloads, share, change }) => ({
        client,
        client_version: version,
        downloads: String(downloads),
        share: String(share),
        change: change === null ? "" : String(change),
      })),
    );
    const found = await as.owner.get<StatisticsListPage>(path("search=CUR"));
    expect(found.rows).toEqual(
      recountStatistics(events, RANGE).breakdowns["client"]?.filter(({ client }) => client === "curl"),
    );
  });

  test.each([
    ["exact", ""],
    ["minor", ""],
    ["major", "&country=DE"],
  ] as const)("of versions is paged in their order, by %s", async (versions, filter) => {
    const { startDate, endDate } = RANGE;
    const query = `startDate=${startDate}&endDate=${endDate}&package=wheel&versions=${versions}${filter}`;
    const keeps = ({ place }: SentEvent) => filter === "" || place.country === "DE";
    const all = recountStatistics(events, { ...RANGE, artifacts: ids("wheel"), versions, limit: 100, keeps });
    const rows: StatisticsRow[] = [];
    for (
      let next: string | undefined = `/v2/counting/stats/version?${query}&per_page=2`;
      next !== undefined;
    ) {
      const page: StatisticsListPage = await as.owner.get(next);
      rows.push(...page.rows);
      next = page.next;
    }
    expect(rows.length).toBeGreaterThan(5);
    expect(rows).toEqual(all.breakdowns["version"]);
    const found = await as.owner.get<StatisticsListPage>(`/v2/counting/stats/version?${query}&search=1.`);
    expect(found.rows).toEqual(
      all.breakdowns["version"]?.filter(({ version }) => String(version).includes("1.")),
    );
  });

  test("counts filtered events, and views of a pixel", async () => {
    const filtered = await as.owner.get<StatisticsListPage>(path("country=DE"));
    const ofGermany = recountStatistics(events, {
      ...RANGE,
      limit: 100,
      keeps: ({ place }) => place.country === "DE",
    });
    expect(filtered.rows).toEqual(ofGermany.breakdowns["client"]);
    const viewed = await as.owner.get<StatisticsListPage>(path("pixel=site"));
    const ofSite = recountStatistics(events, { ...RANGE, limit: 100, artifacts: ids("site") });
    expect(viewed.rows).toEqual(ofSite.breakdowns["client"]);
  });
});

describe("who may read them", () => {
  const statusOf = async (api: ApiClient, path: string, headers: Record<string, string> = {}) => {
    const answer = await api.request(path, { headers });
    const { code } = answer.ok ? { code: "" } : ((await answer.json()) as { code: string });
    return [answer.status, code];
  };
  const CSV = { Accept: "text/csv" };
  const HIDDEN = [404, "not-found"];
  const counted = (...names: (keyof typeof artifacts)[]) =>
    recountStatistics(events, { ...RANGE, artifacts: ids(...names) });
  const give = (username: string, level: string, of: keyof typeof artifacts) =>
    setLevel(pool, { packageId: artifacts[of].id, username, level });
  const setRole = async (role: "admin" | "member") => {
    await pool.query("update memberships set role = $1 where role <> 'owner'", [role]);
  };
  const exportsSeenBy = async (api: ApiClient) =>
    (
      await api.get<{ audit_entries: AuditEntryRecord[] }>("/v2/counting/audit?action=export.read")
    ).audit_entries.map(({ changes }) => changes);
  afterEach(() => pool.query("delete from package_permissions"));

  test("a member reads all of them", async () => {
    expect(await read("", as.member)).toEqual(recountStatistics(events, RANGE));
  });

  test("they need no grant, but CSV does", async () => {
    await program.admin("revoke-export", "counting");
    const json = await statusOf(as.owner, "/v2/counting/stats/country");
    const csv = await statusOf(as.owner, "/v2/counting/stats/country", CSV);
    await program.admin("grant-export", "counting");
    expect([json, csv]).toEqual([
      [200, ""],
      [403, "export-not-granted"],
    ]);
  });

  test("a package that the caller is blocked from is in no number", async () => {
    await give("counting-bob", "blocked", "image");
    expect(await read("", as.member)).toEqual(counted("files", "tool", "wheel", "site"));
    const keeps = ({ artifact, place }: SentEvent) =>
      artifact.id !== artifacts.image.id && place.country === "DE";
    expect(await read("country=DE", as.member)).toEqual(recountStatistics(events, { ...RANGE, keeps }));
    expect(await statusOf(as.member, "/v2/counting/stats?package=image")).toEqual(HIDDEN);
  });

  test("nor are the views of its pixels", async () => {
    const associate = async (fields: object) => {
      const init = { method: "PUT", body: JSON.stringify({ name: "site", ...fields }) };
      expect((await as.owner.request(`/v2/pixels/counting/${artifacts.site.id}`, init)).status).toBe(200);
    };
    await associate({ package_id: artifacts.image.id });
    onTestFinished(() => associate({}));
    const path = "/v2/counting/stats?pixel=site";
    expect(await statusOf(as.member, path)).toEqual([200, ""]);
    await give("counting-bob", "blocked", "image");
    expect(await read("", as.member)).toEqual(counted("files", "tool", "wheel"));
    expect(await statusOf(as.member, path)).toEqual(HIDDEN);
    await setRole("admin");
    onTestFinished(() => setRole("member"));
    await as.owner.request(path, { headers: CSV });
    const of = { pixel: artifacts.site.id, package_id: artifacts.image.id };
    await expect
      .poll(() => exportsSeenBy(as.owner))
      .toContainEqual(expect.objectContaining({ export: "statistics", ...of }));
    expect(JSON.stringify(await exportsSeenBy(as.member))).not.toMatch(/site|pixel/);
  });

  test("an outsider with a level on one package reads its numbers alone", async () => {
    await give("counting-eve", "member", "files");
    for (const query of ["", "package=files"])
      expect(await read(query, as.outsider)).toEqual(counted("files"));
    const byPackage = await as.outsider.get<{ packages: { name: string }[] }>("/v2/counting/stats/packages");
    expect(byPackage.packages.map(({ name }) => name)).toEqual(["files"]);
    for (const query of ["package=image", "pixel=site"])
      expect(await statusOf(as.outsider, `/v2/counting/stats?${query}`)).toEqual(HIDDEN);
  });

  test.each([
    ["a member", "counting-bob", "member", [403, "forbidden"]],
    ["an outsider", "counting-eve", "outsider", [404, "not-found"]],
  ] as const)("a level on a package gives its CSV alone, to %s", async (_, username, who, refusal) => {
    const api = as[who];
    await give(username, "member", "files");
    const { startDate, endDate } = RANGE;
    const path = `/v2/counting/stats?package=files&startDate=${startDate}&endDate=${endDate}&interval=week`;
    const answer = await api.request(path, { headers: CSV });
    const lists = ["?package=files", "?package=image", "?pixel=site", ""].map((query) =>
      statusOf(api, `/v2/counting/stats/country${query}`, CSV),
    );
    const [own, ...others] = await Promise.all(lists);
    expect(
      parseCsv(await answer.text(), {
        columns: true,
        cast: (text, { column, header }) => (header || column === "date" ? text : Number(text)),
      }),
    ).toEqual(recountStatistics(events, { ...RANGE, interval: "week", artifacts: ids("files") }).series);
    expect(own).toEqual([200, ""]);
    expect(others).toEqual([refusal, refusal, refusal]);
    expect(await api.get("/v2/packages/counting/files/access")).toMatchObject({
      package: { uuid: artifacts.files.id, name: "files" },
      may_change: false,
      may_import: false,
      may_export: true,
    });
  });

  test.each(["include", "exclude"])(
    "the packages by day are those of each alone, automated=%s",
    async (automated) => {
      const query = `startDate=${RANGE.startDate}&endDate=${RANGE.endDate}&automated=${automated}`;
      const { packages } = await as.owner.get<{ packages: { name: string; downloads: number }[] }>(
        `/v2/counting/stats/packages?${query}`,
      );
      const alone = packages.map(async ({ name }) => {
        const { totals } = await as.owner.get<Statistics>(`/v2/counting/stats?package=${name}&${query}`);
        return { name, downloads: totals.downloads };
      });
      expect(packages.map(({ name, downloads }) => ({ name, downloads }))).toEqual(await Promise.all(alone));
      expect(await statusOf(as.owner, "/v2/counting/stats/packages?automated=no")).toEqual([
        400,
        "invalid-query",
      ]);
    },
  );

  test.each([
    ["variable.=x", 400, "invalid-query"],
    ["pixel=image", 404, "not-found"],
    ["versions=patch", 400, "invalid-query"],
  ])("?%s is refused", async (query, status, code) => {
    expect(await statusOf(as.owner, `/v2/counting/stats?${query}`)).toEqual([status, code]);
  });
});

/** The last tests: they change the events. */
describe("after a fifth of the events was overridden", () => {
  let override: Override;

  test("filtered numbers are exact while the import runs, and all numbers once it is done", async () => {
    override = await startOverride(as.owner, { owner: "counting", events, days: DAYS, seed: 42 });
    events = override.after;
    for (const asked of FILTERED)
      await expect.poll(() => read(asked.query)).toEqual(recounted(events, asked));
    expect(await as.owner.get(override.path)).toMatchObject({ status: "importing" });
    await override.finish();
  });

  describe("every number equals a recount", expectAll);

  test("a retraction brings the earlier numbers back", async () => {
    await override.retract();
    for (const asked of [...FILTERED, ...UNFILTERED])
      await expect.poll(() => read(asked.query)).toEqual(recounted(override.before, asked));
  });
});

describe("a day that is not over", () => {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const line = (time: string, id: string) =>
    JSON.stringify({ $time: time, $unique_id: id, $version: "1.0", $remote_address: "141.113.0.20" });
  const askFor = (query: string) => as.owner.get<Statistics>(`/v2/counting/stats?package=fresh&${query}`);
  const week = () => `startDate=${day(6)}&endDate=${day(-1)}&compare=previous-weekdays`;
  const changeIn = (rows: readonly StatisticsRow[] = []) =>
    rows.map(({ downloads, change }) => [downloads, change]);

  beforeAll(async () => {
    const { id } = await makePackage(as.owner, { organization, name: "fresh", libraryType: "npm" });
    const times = [
      ...[0, 0, 0, 0, 1, 1, 8, 7, 7, 7, 7, 7].map((ago) => `${day(ago)}T00:00:00Z`),
      `${day(1)}T23:59:59Z`,
    ];
    const lines = [
      ...times.map((time, index) => line(time, `fresh ${index}`)),
      line(`${day(1)}T05:00:00Z`, "fresh 4"),
    ];
    await as.owner.pollToDone(
      await as.owner.importBody(`/v2/packages/counting/${id}/import`, lines.join("\n")),
    );
  });
  afterAll(() => as.owner.request("/v1/packages/fresh", { method: "DELETE" }));

  test.each(["", "&version=1.0"])(
    "is counted and not compared, as is its counterpart (%s)",
    async (filter) => {
      const { totals, compare, breakdowns } = await askFor(week() + filter);
      const counts = (downloads: number, companies = 1) => ({
        downloads,
        views: 0,
        unique_addresses: 1,
        companies,
      });
      expect(totals).toEqual(counts(7));
      expect(compare).toMatchObject({
        start_date: day(13),
        end_date: day(7),
        of: { start_date: day(6), end_date: day(0), totals: counts(3) },
        totals: counts(1),
      });
      expect(changeIn(breakdowns["version"])).toEqual([[7, 2]]);
    },
  );

  test("changes no package's number", async () => {
    const { packages } = await as.owner.get<PackageStatistics>(`/v2/counting/stats/packages?${week()}`);
    expect(packages.find(({ name }) => name === "fresh")).toMatchObject({ downloads: 7, change: 2 });
  });

  test("is compared by hour with the same time of another day, and shows overrides in their hour", async () => {
    const byHour = (start: number) =>
      askFor(`startDate=${day(start)}&endDate=${day(start - 1)}&interval=hour&compare=previous`);
    const { totals, series, compare, breakdowns } = await byHour(0);
    expect(series).toHaveLength(24);
    expect(totals.downloads).toBe(4);
    // Of yesterday's three, one was later than it is now.
    const soFar = (await byHour(1)).series.filter(
      ({ time = "" }) => Date.parse(time) <= Date.now() - 86_400_000 && !time.includes("T23"),
    );
    const before = soFar.reduce((sum, { downloads }) => sum + downloads, 0);
    expect(compare?.totals.downloads).toBe(before);
    expect(changeIn(breakdowns["version"])).toEqual([[4, (4 - before) / before]]);
    const yesterday = await byHour(1);
    expect(
      yesterday.series.flatMap(({ time, downloads }) => (downloads > 0 ? [[time, downloads]] : [])),
    ).toEqual([
      [`${day(1)}T00:00:00.000000Z`, 1],
      [`${day(1)}T05:00:00.000000Z`, 1],
      [`${day(1)}T23:00:00.000000Z`, 1],
    ]);
  });
});
