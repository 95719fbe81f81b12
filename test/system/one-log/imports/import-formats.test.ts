import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { DryRun, EventImport } from "../../../../schemas/records/import-store.js";
import type { LibraryType } from "../../../../schemas/records/artifact.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";

const ORGANIZATION = "formats";

joinProgram("format-reader", { organizations: [ORGANIZATION] });

/** Of each test. */
let tool: KnownArtifact;
let tools = 0;

beforeEach(() => makeTool("other"));

async function makeTool(libraryType: LibraryType): Promise<void> {
  tool = await makePackage(api, { organization: ORGANIZATION, name: `tool-${++tools}`, libraryType });
}

const fixture = (name: string) => readFile(resolve("test/fixtures", name), "utf8");

interface Query {
  format: string;
  path?: string;
  dryRun?: "true";
}

async function post(body: string, query: Query, path = `/v2/packages/${ORGANIZATION}/${tool.id}/import`) {
  const options = { method: "POST", body, headers: { "Content-Type": "text/plain" } };
  const answer = await api.request(`${path}?${new URLSearchParams({ ...query }).toString()}`, options);
  return { status: answer.status, said: (await answer.json()) as EventImport & DryRun & { code: string } };
}

async function importAs(body: string, query: Query): Promise<EventImport> {
  const { status, said } = await post(body, query);
  expect({ status, said }).toMatchObject({ status: 200 });
  return api.pollToDone(said);
}

interface EventRow {
  time: string;
  version: string;
  user_agent: string;
  referer: string;
  type: string;
  origin_country: string;
  client: string;
  client_version: string;
  platform: string;
  automated: string;
  variables: string;
}

/** The live events of the package on some day or the next, in order of time. */
async function eventsOf(startDate: string): Promise<EventRow[]> {
  const endDate = new Date(Date.parse(startDate) + 172_800_000).toISOString().slice(0, 10);
  const lines = await api.readLines(
    `/v1/packages/${tool.id}/events/events.ndjson?startDate=${startDate}&endDate=${endDate}`,
  );
  return lines.map((line) => JSON.parse(line) as EventRow).sort((a, b) => (a.time < b.time ? -1 : 1));
}

interface Fixture {
  query: Query;
  file: string;
  day: string;
  /** Events, refused and skipped lines. */
  counts: [imported: number, failed: number, skipped: number];
  /** That are live: all that were imported, if not given. */
  events?: number;
  /** Fields of some of the events. */
  has: Partial<EventRow>[];
}

const UBUNTU_AGENT = 'Mozilla/5.0 (X11; Linux "quoted") Gecko\\back é';

const LOGS: readonly [format: string, file: string, day: string, skipped: number][] = [
  ["combined", "access-logs/nginx", "2026-11-23", 4],
  ["combined", "access-logs/apache", "2026-11-23", 4],
  ["combined", "access-logs/apache-vhost", "2026-11-23", 4],
  ["caddy", "formats/caddy", "2026-11-26", 5],
  ["traefik", "formats/traefik", "2026-11-23", 5],
];

const FIXTURES: readonly Fixture[] = [
  ...LOGS.map(([format, file, day, skipped]): Fixture => ({
    query: { format, path: "/releases/{name}-{version}.tar.gz" },
    file: `${file}.txt`,
    day,
    counts: [4, 0, skipped],
    has: [
      { version: "1.4.0", variables: "name=tool&version=1.4.0", user_agent: "curl/7.88.1" },
      { referer: 'https://example.org/a?b="c"', user_agent: UBUNTU_AGENT },
    ],
  })),
  {
    query: { format: "cloudfront" },
    file: "access-logs/cloudfront.txt",
    day: "2019-12-04",
    counts: [1, 0, 3],
    has: [{ time: "2019-12-04T21:02:31.000000Z", variables: "file=%2Findex.html" }],
  },
  {
    query: { format: "s3", path: "/releases/tool-{version}.tar.gz" },
    file: "access-logs/s3.txt",
    day: "2019-02-06",
    counts: [1, 0, 3],
    has: [{ version: "1.4.0", user_agent: "curl/8.5.0", referer: "https://example.org/" }],
  },
  {
    query: { format: "docker-dvp" },
    file: "formats/docker-dvp.txt",
    day: "2026-11-01",
    counts: [4, 0, 1],
    has: [
      { version: "1.4.0", origin_country: "DE", user_agent: "docker/27.3.1" },
      { version: "", origin_country: "FR", user_agent: "cri-o/1.30.3" },
    ],
  },
  {
    query: { format: "pypi-bigquery" },
    file: "formats/pypi-bigquery.txt",
    day: "2026-11-01",
    counts: [5, 0, 0],
    has: [
      { version: "1.4.0", origin_country: "US", client: "pip", client_version: "24.3.1", automated: "ci" },
      { version: "1.4.1", origin_country: "US", client: "bandersnatch", automated: "mirror" },
      { version: "1.4.1", origin_country: "", client: "poetry", platform: "macOS" },
    ],
  },
  {
    query: { format: "scarf-csv" },
    file: "formats/scarf-csv.txt",
    day: "2026-11-01",
    // One of its ids comes twice.
    counts: [4, 0, 1],
    events: 3,
    has: [
      {
        time: "2026-11-01T08:00:00.123000Z",
        version: "1.4.0",
        origin_country: "DE",
        type: "binary-download",
      },
      { version: "1.4.1", origin_country: "US", user_agent: "Mozilla/5.0 (X11; Linux x86_64) Gecko, like" },
    ],
  },
];

describe.each(FIXTURES)(
  "$query.format, $file",
  ({ query, file, day, counts, events: live = counts[0], has }) => {
    const [imported, failed, skipped] = counts;
    const wanted = {
      events_total: imported + failed,
      events_successfully_imported: imported,
      events_failed_to_import: failed,
      lines_skipped: skipped,
    };

    test("every line is an event, refused or skipped, as a dry run says; sent again it changes nothing", async () => {
      const body = await fixture(file);
      expect((await post(body, { ...query, dryRun: "true" })).said).toMatchObject({
        event_sample: Array.from(
          { length: imported },
          () => expect.objectContaining({ type: expect.any(String) as string }) as object,
        ),
        ...wanted,
        dry_run: true,
      });
      expect(await importAs(body, query)).toMatchObject({ ...wanted, warning_log_sample: [] });
      const events = await eventsOf(day);
      expect(events).toHaveLength(live);
      for (const each of has) expect(events).toContainEqual(expect.objectContaining(each));
      expect(await importAs(body, query)).toMatchObject(wanted);
      expect(await eventsOf(day)).toEqual(events);
    });
  },
);

const CSV = "$time,$unique_id,$user_agent,$version,channel\n";
const ROWS = ["2025-03-10,a,curl/8,1.0,stable", '2025-03-11,b,"curl/8, really",1.1,'];

describe("csv", () => {
  test("rows are events with the names of the header", async () => {
    await importAs(`${CSV}${ROWS.join("\r\n")}`, { format: "csv" });
    expect(await eventsOf("2025-03-10")).toMatchObject([
      { version: "1.0", user_agent: "curl/8", variables: "channel=stable" },
      { version: "1.1", user_agent: "curl/8, really", variables: "" },
    ]);
  });

  test("refused rows come back as they were sent, named by the line of the file", async () => {
    const wrong = ["2025-03-10,c,curl/8", 'yesterday,d,"curl ""8""",1,x', '2025-03-10,e,"open,1,x'];
    const body = `${CSV}${[ROWS[0], ...wrong, ROWS[1]].join("\n")}\n`;
    const record = await importAs(body, { format: "csv" });
    expect(record.error_log_sample.map(({ line, type }) => [line, type])).toEqual([
      [3, "failed-to-decode"],
      [4, "invalid-time"],
      [5, "failed-to-decode"],
    ]);
    expect(await api.readLines(`/v2/imports/${ORGANIZATION}/${record.id}/rejected`)).toEqual(wrong);
  });

  test("blank lines before the header are counted", async () => {
    const record = await importAs(`\n\r\n${CSV}${ROWS.join("\n")}\nwrong\n`, { format: "csv" });
    expect(record).toMatchObject({ events_successfully_imported: 2, lines_received: 3 });
    expect(record.error_log_sample.map(({ line }) => line)).toEqual([6]);
  });

  test("every chunk knows the header", async () => {
    const long = "x".repeat(900);
    const rows = Array.from({ length: 3_000 }, (_, row) => `2025-03-10,${row},curl/8,${row % 3},${long}`);
    const record = await importAs(`${CSV}${rows.join("\n")}`, { format: "csv" });
    expect(record).toMatchObject({ events_successfully_imported: 3_000, lines_received: 3_000 });
    const events = await eventsOf("2025-03-10");
    expect(events.filter(({ version }) => version === "2")).toHaveLength(1_000);
  });
});

test("a country that a line names counts where its address gives none, and else is a warning", async () => {
  await makeTool("docker");
  const lines = [
    '{"$time":"2025-03-10","$country":"fr"}',
    '{"$time":"2025-03-10","$country":"JP","$remote_address":"81.2.69.142"}',
    '{"$time":"2025-03-10","$country":"France"}',
  ];
  const record = await importAs(lines.join("\n"), { format: "ndjson" });
  expect(record.warning_log_sample.map(({ line, type }) => [line, type])).toEqual([[3, "unknown-country"]]);
  const countries = (await eventsOf("2025-03-10")).map((event) => event.origin_country);
  expect(countries.sort()).toEqual(["", "FR", "GB"]);
  const range = { startDate: "2025-03-10", endDate: "2025-03-11" };
  const counted = (await api.readAggregates(ORGANIZATION, range)).filter((each) => each.package === tool.id);
  expect(
    counted.flatMap(({ breakdown, country, total }) => (breakdown === "country" ? [[country, total]] : [])),
  ).toEqual([
    ["FR", 1],
    ["GB", 1],
  ]);
});

test("refused lines of a log come back as they were sent", async () => {
  const log = await fixture("access-logs/nginx.txt");
  const wrong = ["no line of it", '1.2.3.4 - - [31/Nov/2026:00:00:00 +0000] "GET /x HTTP/1.1" 200 1 "-" "-"'];
  const record = await importAs(`${wrong.join("\r\n")}\r\n${log}`, { format: "combined" });
  expect(record.error_log_sample.map(({ line, type }) => [line, type])).toEqual([
    [1, "failed-to-decode"],
    [2, "invalid-time"],
  ]);
  const rejected = await api.readLines(`/v2/imports/${ORGANIZATION}/${record.id}/rejected`);
  expect(rejected.map((line) => line.trimEnd())).toEqual(wrong);
});

describe("a body that is plainly of another format is refused before its import begins", () => {
  test.each<[string, string, string, string?]>([
    ["ndjson", "$time,a\n", "format=csv", "not-ndjson"],
    ["ndjson", '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /a', "format=combined", "not-ndjson"],
    ["combined", '{"$time":1}\n', "format=ndjson"],
    ["combined", "#Version: 1.0\n", "format=cloudfront"],
    ["s3", "$time,a\n", "format=csv"],
    ["csv", "time,a\n", "$time"],
    ["csv", "[1]", "JSON array"],
    ["csv", `$time,${"a".repeat(70_000)}\n`, "64 KiB"],
    ["csv", "$time;a\n", "semicolons"],
    ["caddy", '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /a', "format=combined"],
    ["traefik", "x", "JSON object"],
    ["ndjson", '{"RequestPath":"/","DownstreamStatus":200}', "format=traefik", "not-ndjson"],
    ["scarf-csv", "$time,a", "including id"],
    ["docker-dvp", "Action,Country", "including timestamp"],
  ])("as %s: %j", async (format, body, advice, code = "invalid-body") => {
    const before = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${ORGANIZATION}`);
    for (const query of [{ format }, { format, dryRun: "true" as const }])
      expect(await post(body, query)).toMatchObject({
        status: 422,
        said: { code, message: expect.stringContaining(advice) as string },
      });
    expect(await api.get(`/v2/imports/${ORGANIZATION}`)).toEqual(before);
  });
});

test.each([
  [{ format: "xml" }, "format must be one of ndjson, csv"],
  [{ format: "csv", path: "/a" }, "path can only be used with the format of an access log"],
  [{ format: "s3", path: "a" }, "path must begin with /"],
])("a wrong parameter is refused: %j", async (query, message) => {
  expect(await post("", query)).toMatchObject({
    status: 400,
    said: { code: "invalid-query", message: expect.stringContaining(message) as string },
  });
});

test("a log into whatever each line names is refused, because its lines name nothing", async () => {
  expect(await post("", { format: "combined" }, `/v2/${ORGANIZATION}/import`)).toMatchObject({
    status: 400,
    said: { code: "invalid-query" },
  });
});

test("one key is for one format and path", async () => {
  const path = `/v2/packages/${ORGANIZATION}/${tool.id}/import`;
  const start = async (query: string) => {
    const headers = { "Idempotency-Key": `formats-${tool.id}` };
    const answer = await api.request(path + query, { method: "POST", body: "", headers });
    return { status: answer.status, said: (await answer.json()) as EventImport & { code: string } };
  };
  const first = await start("?format=combined&path=/a");
  expect(first.status).toBe(200);
  expect((await start("?path=/a&format=combined")).said.id).toBe(first.said.id);
  for (const query of ["", "?format=combined", "?format=s3&path=/a"])
    expect((await start(query)).said.code).toBe("idempotency-key-reused");
});

test("who may not import may not in any format", async () => {
  const stranger = await program.newAccount("format-stranger");
  const path = `/v2/packages/${ORGANIZATION}/${tool.id}/import?format=csv`;
  expect((await stranger.request(path, { method: "POST", body: CSV })).status).toBe(404);
});
