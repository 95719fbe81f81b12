import { parse as parseCsv } from "csv-parse/sync";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { Random } from "../../../../deploy/demo/random.js";
import type { Adoption } from "../../../../schemas/contracts/adoption.js";
import type { AuditEntryRecord } from "../../../../schemas/contracts/audit-entry.js";
import type { EndOfLife, EndsOfLife, EndOfLifeUse } from "../../../../schemas/contracts/end-of-life.js";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import { DAY_MS, dateAt, lastDays } from "../../../../schemas/date-range.js";
import { joinOrganization } from "../../../support/api/management-world.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";
import { recountAdoption, recountUse } from "../../../support/statistics/recount-adoption.js";
import type { RecountQuery } from "../../../support/statistics/recount-statistics.js";
import { lineOf, sentEvent, type SentEvent } from "../../../support/statistics/sent-events.js";
import { type Override, startOverride } from "../../../support/statistics/start-override.js";

const RANGE = lastDays(50, new Date());
const MONTH = lastDays(30, new Date());
/** From before the range to today. */
const DAYS = Array.from({ length: 70 }, (_, day) =>
  dateAt(Date.parse(RANGE.startDate) + (day - 20) * DAY_MS),
);
const EVENTS = 2_000;
const ENDS: readonly EndOfLife[] = [
  { version: "2.0.x", date: "2027-01-31" },
  { version: "1.10.x", date: "2026-12-31" },
  { version: "1.1", date: "2025-12-31" },
  { version: "1.x", date: "2026-06-30" },
];

const organization = "adopting";
let pool: pg.Pool;
let member: ApiClient;
let artifacts: Record<"image" | "wheel" | "files", KnownArtifact>;
let events: SentEvent[];

joinProgram("adopting-ada", { organizations: [organization], name: "wholeProgram" });
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: program.endpoints.postgres, max: 1 });
  member = await program.newAccount("adopting-bob");
  await joinOrganization(pool, { organization, username: "adopting-bob", role: "member" });
  artifacts = {
    image: await makePackage(api, { organization, name: "image", libraryType: "docker" }),
    wheel: await makePackage(api, { organization, name: "wheel", libraryType: "pypi" }),
    files: await makePackage(api, { organization, name: "files", libraryType: "other" }),
  };
  const random = new Random(43);
  events = Array.from({ length: EVENTS }, (_, index) => {
    const artifact = random.pick(Object.values(artifacts));
    const event = sentEvent(random, { artifact, key: `event ${index}`, day: random.pick(DAYS) });
    return random.chance(0.05) ? { ...event, version: "other" } : event;
  });
  await api.pollToDone(await api.importBody("/v2/adopting/import", events.map(lineOf).join("")));
  for (const name of Object.keys(artifacts)) await setEnds(name, ENDS);
});
afterAll(() => pool?.end());

async function setEnds(name: string, versions: readonly EndOfLife[]): Promise<EndsOfLife> {
  const put = { method: "PUT", body: JSON.stringify({ versions }) };
  const answer = await api.request(`/v2/packages/adopting/${name}/end-of-life`, put);
  expect(answer.status).toBe(200);
  return (await answer.json()) as EndsOfLife;
}

interface Asked extends Omit<RecountQuery, "startDate" | "endDate" | "artifacts"> {
  of: keyof typeof artifacts;
  query: string;
}

const UNFILTERED: readonly Asked[] = [
  { of: "image", query: "" },
  { of: "wheel", query: "&interval=month&versions=major", interval: "month", versions: "major" },
  { of: "files", query: "&interval=day&versions=exact", interval: "day", versions: "exact" },
  { of: "image", query: "&automated=exclude", keeps: ({ agent }) => agent.automated === "" },
];
const FILTERED: readonly Asked[] = [
  { of: "wheel", query: "&country=DE", keeps: ({ place }) => place.country === "DE" },
  {
    of: "files",
    query: "&version=1.x&versions=exact&interval=day",
    versions: "exact",
    interval: "day",
    keeps: ({ version }) => /^v?1(\.|$)/.test(version),
  },
];
const ASKED = [...UNFILTERED, ...FILTERED];

async function read(name: string, query: string) {
  const { startDate, endDate } = RANGE;
  const { complete_through: completeThrough, ...adoption } = await api.get<Adoption>(
    `/v2/adopting/stats/adoption?package=${name}&startDate=${startDate}&endDate=${endDate}${query}`,
  );
  expect(completeThrough).toMatch(/Z$/);
  return adoption;
}

function recounted({ of, query: _, ...asked }: Asked, now: readonly SentEvent[] = events) {
  return recountAdoption(now, { ...RANGE, ...asked, artifacts: [artifacts[of].id], endsOfLife: ENDS });
}

function expectAll(): void {
  test.each(ASKED.map((asked) => [asked.of, asked.query, asked] as const))(
    "adoption of %s with %s",
    async (of, query, asked) => {
      const adoption = await read(of, query);
      expect(adoption).toEqual(recounted(asked));
    },
  );

  test.each(UNFILTERED.map((asked) => [asked.of, asked.query] as const))(
    "and its sums equal the statistics of %s with %s",
    async (of, query) => {
      const { versions, series, interval } = await read(of, query);
      const { startDate, endDate } = RANGE;
      const statistics = await api.get<Statistics>(
        `/v2/adopting/stats?package=${of}&startDate=${startDate}&endDate=${endDate}${query}&interval=${interval}&limit=100`.replace(
          /&interval=\w+(?=.*&interval)/,
          "",
        ),
      );
      const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
      expect(sum(versions.map(({ downloads }) => downloads))).toBe(statistics.totals.downloads);
      expect(sum(versions.map(({ share }) => share))).toBeCloseTo(1);
      expect(series.map(({ date, downloads }) => [date, downloads])).toEqual(
        statistics.series.map(({ date, downloads }) => [date, downloads]),
      );
      for (const bucket of series) expect(sum(Object.values(bucket.versions))).toBe(bucket.downloads);
    },
  );

  test.each(["image", "wheel", "files"] as const)("the use of versions of %s", async (of) => {
    const { versions } = await member.get<{ versions: EndOfLifeUse[] }>(
      `/v2/packages/adopting/${of}/end-of-life`,
    );
    expect(versions).toEqual(
      recountUse(events, { ...MONTH, artifacts: [artifacts[of].id], endsOfLife: ENDS }),
    );
    expect(versions.at(-1)?.unique_addresses).toBeGreaterThan(2);
  });
}

describe("equals a recount of the events:", expectAll);

test("as CSV it is the series, for those who may export the package", async () => {
  const path = `/v2/adopting/stats/adoption?package=image&startDate=${RANGE.startDate}&endDate=${RANGE.endDate}`;
  const headers = { Accept: "text/csv" };
  const answer = await api.request(path, { headers });
  const { series } = await read("image", "");
  expect(parseCsv<Record<string, string>>(await answer.text(), { columns: true })).toEqual(
    series.flatMap(({ date, versions }) =>
      Object.entries(versions).map(([version, count]) => ({ date, version, downloads: String(count) })),
    ),
  );
  expect((await member.request(path, { headers })).status).toBe(403);
});

test.each([
  ["", 400, "invalid-query", "package is required"],
  ["package=none", 404, "not-found", "The package none does not exist"],
  ["package=image&pixel=site", 400, "invalid-query", "pixel"],
  ["package=image&compare=previous", 400, "invalid-query", "compare"],
  ["package=image&versions=patch", 400, "invalid-query", "versions must be one of exact, minor, major"],
])("?%s is refused", async (query, status, code, sentence) => {
  const answer = await api.request(`/v2/adopting/stats/adoption?${query}`);
  expect(answer.status).toBe(status);
  const problem = (await answer.json()) as { code: string; message: string };
  expect(problem.code).toBe(code);
  expect(problem.message).toContain(sentence);
});

describe("end of life", () => {
  test.each([
    [{ versions: [{ version: "1.x", date: "2026-02-30" }] }, "/versions/0/date"],
    [{ versions: [{ version: "", date: "2026-06-30" }] }, "/versions/0/version"],
    [{ versions: [ENDS[0], ENDS[0]] }, "/versions/1/version"],
    [{ versions: [{ ...ENDS[0], note: "soon" }] }, "/versions/0/note"],
    [
      { versions: Array.from({ length: 51 }, (_, index) => ({ ...ENDS[0], version: `${index}` })) },
      "/versions",
    ],
    [{}, "/versions"],
  ])("is refused as %j", async (body, path) => {
    const answer = await api.request("/v2/packages/adopting/image/end-of-life", {
      method: "PUT",
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "invalid-body", errors: [{ path }] });
  });

  test("is changed by admins alone, as a whole, and stands in the audit log", async () => {
    const put = { method: "PUT", body: JSON.stringify({ versions: [] }) };
    expect((await member.request("/v2/packages/adopting/files/end-of-life", put)).status).toBe(403);
    const name = (await makePackage(api, { organization, name: "short", libraryType: "npm" })).id;
    const sent = ENDS.toReversed();
    expect(await setEnds(name, sent)).toEqual({ versions: ENDS });
    expect(await setEnds(name, sent.slice(0, 1))).toEqual({ versions: sent.slice(0, 1) });
    const unused = { ...sent[0], downloads: 0, unique_addresses: 0, companies: 0 };
    expect(await api.get(`/v2/packages/adopting/${name}/end-of-life`)).toEqual({ versions: [unused] });
    const { audit_entries: entries } = await api.get<{ audit_entries: AuditEntryRecord[] }>(
      "/v2/adopting/audit?per_page=1",
    );
    expect(entries[0]).toMatchObject({
      action: "packages.update",
      target: { kind: "package", name: "short" },
      changes: { end_of_life: sent.slice(0, 1) },
    });
  });
});

/** The last tests: they change the events. */
describe("after a fifth of the events was overridden", () => {
  let override: Override;

  test("addresses, and filtered downloads, are exact while the import runs", async () => {
    override = await startOverride(api, { owner: "adopting", events, days: DAYS, seed: 44 });
    events = override.after;
    for (const asked of FILTERED) {
      const seen = async () => {
        const { versions, series } = await read(asked.of, asked.query);
        return { versions: versions.map(({ first_seen: _, ...row }) => row), series };
      };
      const { versions, series } = recounted(asked);
      await expect.poll(seen).toEqual({ versions: versions.map(({ first_seen: _, ...row }) => row), series });
    }
    await override.finish();
  });

  describe("equals a recount:", expectAll);

  test("a retraction brings the earlier numbers back", async () => {
    await override.retract();
    for (const asked of ASKED)
      await expect.poll(() => read(asked.of, asked.query)).toEqual(recounted(asked, override.before));
  });
});
