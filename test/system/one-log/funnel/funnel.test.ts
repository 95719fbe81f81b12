import { parse as parseCsv } from "csv-parse/sync";
import pg from "pg";
import type { ClickHouseClient } from "@clickhouse/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectApi, type ApiClient } from "../../../../deploy/demo/api-client.js";
import type { CompanyDetail, CompanyRecord, FunnelRecord } from "../../../../schemas/contracts/funnel.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { countDifferingRows } from "../../../faults/imports/check-seed.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { joinOrganization, setLevel } from "../../../support/api/management-world.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

/** Addresses of networks that `organizations.csv` and the ASN table know. */
const ADDRESSES = {
  "3m.com": "130.99.0.1",
  "adobe.com": "130.248.10.1",
  "airbus.com": "140.94.0.1",
};
type Domain = keyof typeof ADDRESSES;
const CLOUD = "18.66.22.4";
const ISP = "2.58.100.1";

let toolchain: Toolchain;
let api: ApiClient;
let clickhouse: ClickHouseClient;
let image: KnownArtifact;
let pixel: KnownArtifact;

beforeAll(async () => {
  // The time is moved by hand.
  toolchain = await startToolchain({
    env: { FUNNEL_SCHEDULE: "0 0 29 2 *" },
    prepared: ["databases", "places"],
  });
  api = await toolchain.newAccount("ada");
  clickhouse = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  await makeOrganization(api, "acme");
  await toolchain.admin("grant-export", "acme");
  image = await makePackage(api, { organization: "acme", name: "image", libraryType: "docker" });
  pixel = await makePixel(api, { owner: "acme", name: "docs" });
});

afterAll(async () => {
  await clickhouse?.close();
  await toolchain?.close();
});

interface Sent {
  of: KnownArtifact;
  by: Domain | "an ISP" | "a cloud";
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
        $remote_address: by === "an ISP" ? ISP : by === "a cloud" ? CLOUD : ADDRESSES[by],
        ...(key !== undefined && { $unique_id: key }),
      }),
    ),
  );
  return api.pollToDone(await api.importBody(`/v2/${organization}/import`, lines.join("\n")));
}

const inJune = (): Sent => ({ of: image, by: "adobe.com", on: "2025-06-01" });

const run = (...words: string[]) => toolchain.admin("funnel", "run", ...words);

async function read<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await api.request(path, { headers });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as T;
}

async function stages(): Promise<Partial<Record<string, string>>> {
  const { companies } = await read<{ companies: CompanyRecord[] }>("/v2/acme/companies");
  return Object.fromEntries(companies.map(({ domain, stage }) => [domain, stage ?? "none"] as const));
}

const company = (domain: Domain, query = "") => read<CompanyDetail>(`/v2/acme/companies/${domain}${query}`);

describe("over three months of imports", () => {
  test("companies are placed, and those that are none are left out", async () => {
    await send([
      { of: pixel, by: "3m.com", on: "2025-01-05" },
      { of: image, by: "adobe.com", on: "2025-01-06" },
      { of: image, by: "airbus.com", on: "2025-01-02" },
      { of: image, by: "airbus.com", on: "2025-01-04" },
      { of: pixel, by: "airbus.com", on: "2025-01-05" },
      { of: image, by: "an ISP", on: "2025-01-05", times: 9 },
      { of: image, by: "a cloud", on: "2025-01-05", times: 9 },
    ]);
    expect(await run("acme", "--as-of", "2025-01-10")).toBe("3 companies of 1 owner, 3 changes of stage.");
    expect(await stages()).toEqual({
      "3m.com": "interest",
      "adobe.com": "investigation",
      "airbus.com": "experimentation",
    });
  });

  test("a run that is repeated changes nothing", async () => {
    expect(await run("acme", "--as-of", "2025-01-10")).toBe("3 companies of 1 owner, 0 changes of stage.");
    expect(await run("--as-of", "2025-01-10")).toBe("3 companies of 1 owner, 0 changes of stage.");
  });

  test("their stages change with what they do and leave", async () => {
    const days = [1, 2, 3, 4, 5].map((day) => `2025-02-0${day}`);
    await send([
      ...days.map((on) => ({ of: image, by: "3m.com" as const, on, times: 2 })),
      { of: image, by: "airbus.com", on: "2025-02-03" },
    ]);
    expect(await run("acme", "--as-of", "2025-02-10")).toBe("3 companies of 1 owner, 2 changes of stage.");
    expect(await stages()).toEqual({
      "3m.com": "experimentation",
      "adobe.com": "investigation",
      "airbus.com": "investigation",
    });
    await send([{ of: image, by: "airbus.com", on: "2025-03-05" }]);
    expect(await run("acme", "--as-of", "2025-03-12")).toBe("3 companies of 1 owner, 2 changes of stage.");
    await send([{ of: pixel, by: "adobe.com", on: "2025-04-15" }]);
    expect(await run("acme", "--as-of", "2025-04-20")).toBe("3 companies of 1 owner, 2 changes of stage.");
    expect(await stages()).toEqual({
      "3m.com": "inactive",
      "adobe.com": "interest",
      "airbus.com": "ongoing-usage",
    });
  });

  test("a company has its history and its days", async () => {
    const adobe = await company("adobe.com", "?startDate=2025-01-01&endDate=2025-05-01");
    expect(adobe).toEqual({
      ...{ domain: "adobe.com", name: "Adobe", stage: "interest", since: "2025-04-20T23:59:59.999000Z" },
      ...{ score: 0.5, downloads: 1, views: 1, first_seen: "2025-01-06", last_seen: "2025-04-15" },
      stage_history: [
        {
          old_stage: "inactive",
          new_stage: "interest",
          cause: "view",
          changed_at: "2025-04-20T23:59:59.999000Z",
        },
        {
          old_stage: "investigation",
          new_stage: "inactive",
          cause: "no-activity",
          changed_at: "2025-03-12T23:59:59.999000Z",
        },
        { new_stage: "investigation", cause: "download", changed_at: "2025-01-10T23:59:59.999000Z" },
      ],
      days: [
        { date: "2025-01-06", downloads: 1, views: 0 },
        { date: "2025-04-15", downloads: 0, views: 1 },
      ],
      artifacts: expect.arrayContaining([
        { kind: "package", id: image.id, name: "image", downloads: 1, views: 0 },
        { kind: "pixel", id: pixel.id, name: "docs", downloads: 0, views: 1 },
      ]) as unknown,
    });
    expect((await company("airbus.com", "?startDate=2025-01-01&endDate=2025-05-01")).artifacts).toEqual([
      { kind: "package", id: image.id, name: "image", downloads: 4, views: 0 },
      { kind: "pixel", id: pixel.id, name: "docs", downloads: 0, views: 1 },
    ]);
    expect((await company("adobe.com", "?startDate=2025-04-15&endDate=2025-04-16")).days).toHaveLength(1);
    expect((await company("airbus.com")).stage_history.map(({ cause }) => cause)).toEqual([
      "activity-in-three-windows",
      "download",
      "downloads-and-view",
    ]);
  });

  test("the funnel counts them for each day, also between two runs", async () => {
    const funnel = await read<FunnelRecord>("/v2/acme/funnel?startDate=2025-01-09&endDate=2025-04-21");
    const none = { interest: 0, investigation: 0, experimentation: 0, "ongoing-usage": 0, inactive: 0 };
    const first = { ...none, interest: 1, investigation: 1, experimentation: 1 };
    const second = { ...none, investigation: 2, experimentation: 1 };
    const third = { ...none, experimentation: 1, "ongoing-usage": 1, inactive: 1 };
    const last = { ...none, interest: 1, "ongoing-usage": 1, inactive: 1 };
    const on = new Map(funnel.days.map(({ date, stages }) => [date, stages]));
    const asked = ["01-09", "01-10", "02-09", "02-10", "03-11", "03-12", "04-19", "04-20"];
    expect(asked.map((day) => on.get(`2025-${day}`))).toEqual([
      none,
      first,
      first,
      second,
      second,
      third,
      third,
      last,
    ]);
    expect([funnel.days.length, funnel.as_of, funnel.stages]).toEqual([
      102,
      "2025-04-20T23:59:59.999000Z",
      last,
    ]);
  });

  test("the funnel counts nobody on days of long ago", async () => {
    const { days } = await read<FunnelRecord>("/v2/acme/funnel?startDate=0000-02-28&endDate=0000-03-01");
    const none = { interest: 0, investigation: 0, experimentation: 0, "ongoing-usage": 0, inactive: 0 };
    expect(days).toEqual(["0000-02-28", "0000-02-29"].map((date) => ({ date, stages: none })));
  });

  test("the funnel counts nobody on days to come", async () => {
    const today = new Date();
    const day = (later: number) => new Date(today.getTime() + later * 86_400_000).toISOString().slice(0, 10);
    const range = `startDate=${day(-1)}&endDate=${day(5)}`;
    const { days } = await read<FunnelRecord>(`/v2/acme/funnel?${range}`);
    expect(days.map(({ date }) => date)).toEqual([day(-1), day(0)]);
    const later = `startDate=${day(2)}&endDate=${day(3)}`;
    expect((await read<FunnelRecord>(`/v2/acme/funnel?${later}`)).days).toEqual([]);
  });

  test("a run as of an earlier time is refused, and so is one that is to come", async () => {
    await expect(run("acme", "--as-of", "2025-04-19")).rejects.toThrow(
      "The last run of this owner was as of 2025-04-20T23:59:59.999Z",
    );
    expect(await run("--as-of", "2025-04-19")).toBe(
      "0 companies of 0 owners, 0 changes of stage. 1 owner skipped: their last run is later.",
    );
    await expect(run("--as-of", "2124-01-01")).rejects.toThrow("is in the future");
    await expect(run("nobody")).rejects.toThrow("There is no user or organization nobody.");
  });
});

describe("the list of companies", () => {
  const domains = async (query: string) =>
    (await read<{ companies: CompanyRecord[] }>(`/v2/acme/companies?${query}`)).companies.map(
      ({ domain }) => domain,
    );

  test.each([
    ["sort=score", ["adobe.com", "3m.com", "airbus.com"]],
    ["", ["adobe.com", "3m.com", "airbus.com"]],
    ["sort=downloads", ["3m.com", "airbus.com", "adobe.com"]],
    ["sort=last_seen", ["adobe.com", "airbus.com", "3m.com"]],
    ["stage=inactive", ["3m.com"]],
    ["search=AIRB", ["airbus.com"]],
    ["search=.com&stage=interest", ["adobe.com"]],
    ["search=%25", []],
  ])("with %j", async (query, expected) => {
    expect(await domains(query)).toEqual(expected);
  });

  test.each(["score", "downloads", "last_seen"])("by %s is the same in pages", async (sort) => {
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
  });

  test("says when its companies were placed, and nothing where no run has placed any", async () => {
    const { as_of: asOf } = await read<{ as_of: string }>("/v2/acme/funnel");
    expect(await read<object>("/v2/acme/companies?search=nobody")).toEqual({ as_of: asOf, companies: [] });
    const eve = await toolchain.newAccount("eve");
    expect(await eve.get("/v2/eve/companies")).toEqual({ companies: [] });
  });

  test("comes as NDJSON and as CSV where these are asked for, with the next page in a header", async () => {
    const { companies } = await read<{ companies: CompanyRecord[] }>("/v2/acme/companies?per_page=2");
    const asked = (accept: string) => api.request("/v2/acme/companies?per_page=2", { headers: { accept } });
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
});

async function rows<Row>(query: string): Promise<Row[]> {
  const answer = await clickhouse.query({ query, format: "JSONEachRow" });
  return answer.json<Row>();
}

const activity = async ({ id }: KnownArtifact) => {
  const found = await rows<{ date: string; domain: string; total: string }>(`
    SELECT toString(date) AS date, company_domain AS domain, toString(sum(total)) AS total FROM company_activity
    WHERE artifact = '${id}' GROUP BY date, domain HAVING sum(company_activity.total) != 0 ORDER BY date, domain`);
  return found.map(({ date, domain, total }) => `${date} ${domain} ${total}`);
};

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

describe("importance", () => {
  const PATH = "/v2/acme/funnel/importance";

  test("set for a package changes what its downloads are worth, from the next run on", async () => {
    const before = await read<object>(PATH);
    expect(before).toEqual({
      packages: [{ id: image.id, importance: "medium" }],
      pixels: [{ id: pixel.id, importance: "medium" }],
    });
    const put = async (body: object) => {
      const answer = await api.request(PATH, { method: "PUT", body: JSON.stringify(body) });
      return [answer.status, (await answer.json()) as object];
    };
    const wanted = {
      packages: [{ id: image.id, importance: "high" }],
      pixels: [{ id: pixel.id, importance: "low" }],
    };
    const byName = { ...wanted, packages: [{ id: "image", importance: "high" }] };
    expect(await put(byName)).toEqual([200, wanted]);
    expect(await read<object>(PATH)).toEqual(wanted);
    await send([inJune()]);
    await run("acme", "--as-of", "2025-06-02");
    expect((await company("adobe.com")).score).toBe(8);
    expect(await put({ packages: [], pixels: [] })).toEqual([200, before]);
    await run("acme", "--as-of", "2025-06-03");
    expect((await company("adobe.com")).score).toBe(5);
    const entries = await read<{ audit_entries: { changes: object }[] }>(
      "/v2/acme/audit?action=funnel.manage",
    );
    expect(entries.audit_entries.at(-1)?.changes).toEqual(wanted);
    const unknown = { packages: [{ id: pixel.id, importance: "high" }], pixels: [] };
    expect(await put(unknown)).toEqual([
      422,
      expect.objectContaining({ errors: [expect.objectContaining({ path: "/packages/0/id" })] }),
    ]);
  });
});

test("companies and the funnel are refused to an admin who is blocked from one of the packages", async () => {
  const paths = ["/v2/acme/companies", "/v2/acme/companies/3m.com", "/v2/acme/funnel"];
  const bob = await toolchain.newAccount("bob");
  const statuses = async (as: ApiClient) =>
    Promise.all(paths.map(async (path) => (await as.request(path)).status));
  const pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 1 });
  try {
    await joinOrganization(pool, { organization: "acme", username: "bob", role: "admin" });
    expect(await statuses(bob)).toEqual([200, 200, 200]);
    for (const username of ["ada", "bob"])
      await setLevel(pool, { packageId: image.id, username, level: "blocked" });
    expect(await statuses(bob)).toEqual([403, 403, 403]);
    expect(await (await bob.request(paths[0] ?? "")).json()).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("blocked from a package of acme") as string,
    });
    expect(await statuses(api)).toEqual([200, 200, 200]);
    await pool.query("delete from package_permissions");
  } finally {
    await pool.end();
  }
});

test("members read companies and the funnel without a grant; as NDJSON and CSV they are exports", async () => {
  const paths = ["/v2/acme/companies", "/v2/acme/companies/3m.com", "/v2/acme/funnel"];
  const carl = await toolchain.newAccount("carl");
  const statusesOf = (as: ApiClient) =>
    Promise.all(paths.map(async (path) => (await as.request(path)).status));
  const codeOf = async (as: ApiClient, accept: string) => {
    const answer = await as.request(paths[0] ?? "", { headers: { accept } });
    return answer.ok ? 200 : ((await answer.json()) as { code: string }).code;
  };
  const codesOf = async (as: ApiClient) => [
    await codeOf(as, "text/csv"),
    await codeOf(as, "application/x-ndjson"),
  ];
  const pool = new pg.Pool({ connectionString: toolchain.endpoints.postgres, max: 1 });
  try {
    expect(await statusesOf(carl)).toEqual([404, 404, 404]);
    await joinOrganization(pool, { organization: "acme", username: "carl", role: "member" });
    expect(await statusesOf(carl)).toEqual([200, 200, 200]);
    expect(await codesOf(carl)).toEqual(["forbidden", "forbidden"]);
    expect(await codesOf(api)).toEqual([200, 200]);
    await toolchain.admin("revoke-export", "acme");
    expect(await statusesOf(api)).toEqual([200, 200, 200]);
    expect(await codesOf(api)).toEqual(["export-not-granted", "export-not-granted"]);
  } finally {
    await toolchain.admin("grant-export", "acme");
    await pool.end();
  }
});

describe("without a running server", () => {
  test("a run starts the stores for the moment, and the server finds what it did", async () => {
    await toolchain.kill("SIGTERM");
    expect(await run("acme", "--as-of", "2025-09-01")).toBe("3 companies of 1 owner, 1 change of stage.");
    await toolchain.restart();
    api = connectApi(toolchain.api, api.token);
    expect(await stages()).toEqual({
      "3m.com": "inactive",
      "adobe.com": "inactive",
      "airbus.com": "inactive",
    });
  });
});
