import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { createGuard } from "../../../../api/base/outbound/guard-address.js";
import type { RegistryAccess } from "../../../../api/features/sources/read-registry.js";
import { annotationRoutes } from "../../../../api/features/packages/annotations/annotation-routes.js";
import { SERVICE } from "../../../../schemas/contracts/audit-entry.js";
import type { AnnotationRecord } from "../../../../schemas/contracts/annotation.js";
import { reportedRoutes } from "../../../../api/features/sources/reported-routes.js";
import { sourceRoutes } from "../../../../api/features/sources/source-routes.js";
import { runKind } from "../../../../api/features/sources/start-sources.js";
import { createIndexClient } from "../../../../ingest/collect/python/fetch-index.js";
import { SOURCE_KINDS, type SourceKind, type SourceRecord } from "../../../../schemas/contracts/source.js";
import { TIMESTAMP, auditOf } from "../../../support/api/management-world.js";
import {
  api,
  as,
  giveLevel,
  makePackage,
  postgres,
  refused,
  useWorld,
  world,
} from "../../../support/api/use-world.js";

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

/** What every registry answers, and what it was asked. */
let reply: Reply;
let asked: IncomingMessage[] = [];
let server: Server;
let access: RegistryAccess;
let now: Date;

const json =
  (body: unknown, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response
      .writeHead(200, { "Content-Type": "application/json", ...headers })
      .end(JSON.stringify(body));
const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response.writeHead(code, headers).end();

const days = (...counts: [string, number][]) => ({
  downloads: counts.map(([day, downloads]) => ({ day, downloads })),
});
const pulls = (count: number) => json({ pull_count: count });
const releases = (...assets: [id: number, tag: string, count: number, since: string][]) =>
  json(
    assets.map(([id, tag_name, download_count, created_at]) => ({
      tag_name,
      assets: [{ id, download_count, created_at }],
    })),
  );

/** As for a token that may not push. */
const traffic =
  (rest: Reply): Reply =>
  (request, response) =>
    (request.url?.includes("/traffic/") ? status(403) : rest)(request, response);

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    reply(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createIndexClient(createGuard({ allowPrivateNetworks: true }));
  access = {
    fetch: () => client,
    urls: Object.fromEntries(SOURCE_KINDS.map((kind) => [kind, url])),
    githubToken: "of-github",
    pauseMs: 0,
  };
});

beforeEach(async () => {
  // Those of other tests are not due, and what registries said to them is forgotten.
  await postgres.pg.query("delete from sources");
  await postgres.pg.query("delete from registries");
  reply = json(days());
  now = new Date("2026-08-04T05:30:00Z");
});

afterEach(() => void (asked = []));

afterAll(() => new Promise((resolve) => server.close(resolve)));

useWorld(({ pg }) => ({
  routes: [
    ...annotationRoutes({ pg }),
    ...reportedRoutes({ pg }),
    ...sourceRoutes({
      pg,
      access: {
        fetch: (kind) => access.fetch(kind),
        get urls() {
          return access.urls;
        },
      },
    }),
  ],
}));

const path = () => `/v2/${world.organization}/sources`;

async function create(kind: SourceKind, name: string, more: object = {}): Promise<SourceRecord> {
  const made = await as("admin", `POST ${path()}`, { kind, name, ...more });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body as SourceRecord;
}

async function read({ id }: SourceRecord): Promise<SourceRecord> {
  return (await as("member", `GET ${path()}/${id}`)).body as SourceRecord;
}

/** As on this day. Everything else of the kind is due as well. */
async function runOn(
  day: string,
  source: SourceRecord,
  answer?: Reply,
  quotas: { annotations: number } = DEFAULT_QUOTAS,
): Promise<SourceRecord> {
  now = new Date(day.includes("T") ? day : `${day}T05:30:00Z`);
  if (answer !== undefined) reply = answer;
  expect(await as("admin", `POST ${path()}/${source.id}/run`)).toMatchObject({ status: 202 });
  await runKind({ ...workerOf(), quotas }, source.kind, new AbortController().signal);
  return read(source);
}

function workerOf() {
  const nextTime = (after: Date) => new Date(Math.max(after.getTime(), Date.now()) + 86_400_000);
  return { pg: postgres.pg, access, nextTime, now: () => now, onFailure: fail };
}

function fail(error: unknown): never {
  throw error;
}

interface Line {
  date: string;
  version?: string;
  value: number | null;
  first_value: number | null;
  changed_at?: string;
}

async function grant(): Promise<void> {
  await postgres.pg.query("update owners set export_enabled = true where name = $1", [world.organization]);
}

async function lines(query = "startDate=2026-01-01&endDate=2026-12-31"): Promise<Line[]> {
  await grant();
  const { body } = await as("admin", `GET /v2/${world.organization}/reported?${query}`);
  return String(body)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

const valuesOf = (found: readonly Line[]) =>
  found.map(({ date, version, value }) => (version === undefined ? [date, value] : [date, version, value]));

describe("managing sources", () => {
  test("makes one that is due at once, and tells what came of its run", async () => {
    const source = await create("npm", "left-pad");
    expect(source).toMatchObject({ enabled: true, next_run_at: expect.stringMatching(TIMESTAMP) as string });
    reply = json(days(["2026-08-01", 3], ["2026-08-03", 4]));
    await runKind(workerOf(), "npm", new AbortController().signal);
    expect(await read(source)).toMatchObject({
      last_run_at: expect.stringMatching(TIMESTAMP) as string,
      last_success_at: expect.stringMatching(TIMESTAMP) as string,
      first_date: "2026-08-01",
      last_date: "2026-08-03",
    });
    expect((await read(source)).next_run_at! > "2026-08-05T05:30").toBe(true);
    expect(asked.at(-1)?.headers["user-agent"]).toMatch(/^maintainer-toolchain\/\d/);
  });

  test("says that a registry has no such thing, and that a name cannot be one", async () => {
    reply = status(404);
    expect(await as("admin", `POST ${path()}`, { kind: "npm", name: "left-padd" })).toMatchObject(
      refused(422, "unknown-name"),
    );
    const before = asked.length;
    expect(await as("admin", `POST ${path()}`, { kind: "docker-hub", name: "../x" })).toMatchObject(
      refused(422, "invalid-body"),
    );
    expect(asked).toHaveLength(before);
  });

  test("takes a name while its registry is down, and says so later", async () => {
    reply = status(500);
    const source = await create("crates", "acme");
    await runKind(workerOf(), "crates", new AbortController().signal);
    expect((await read(source)).last_error).toBe("crates returned status 500.");
  });

  test("names the field of a package that the owner has not", async () => {
    const sent = { kind: "npm", name: "left-pad", package: "nothing" };
    expect(await as("admin", `POST ${path()}`, sent)).toMatchObject({
      status: 422,
      body: { code: "invalid-body", errors: [{ path: "/package" }] },
    });
  });

  test("refuses the same thing twice for one owner", async () => {
    await create("npm", "left-pad");
    expect(await as("admin", `POST ${path()}`, { kind: "npm", name: "left-pad" })).toMatchObject(
      refused(409, "already-exists"),
    );
    expect(
      await as("owner", "POST /v2/" + world.names.owner + "/sources", { kind: "npm", name: "left-pad" }),
    ).toMatchObject({ status: 201 });
  });

  test("a disabled one is not run, an enabled one at once", async () => {
    const source = await create("npm", "left-pad");
    const disabled = await as("admin", `PUT ${path()}/${source.id}`, { enabled: false });
    expect(disabled.body).not.toHaveProperty("next_run_at");
    expect(await as("admin", `POST ${path()}/${source.id}/run`)).toMatchObject(
      refused(409, "source-disabled"),
    );
    const before = asked.length;
    await runKind(workerOf(), "npm", new AbortController().signal);
    expect(asked).toHaveLength(before);
    await as("admin", `PUT ${path()}/${source.id}`, { enabled: true });
    await runKind(workerOf(), "npm", new AbortController().signal);
    expect(asked).toHaveLength(before + 1);
  });

  test("asked for again and again has one entry in the audit log for each who asks", async () => {
    const source = await create("npm", "left-pad");
    for (const who of ["admin", "owner", "admin", "admin"] as const)
      await as(who, `POST ${path()}/${source.id}/run`);
    await Promise.all([1, 2, 3].map(() => as("admin", `POST ${path()}/${source.id}/run`)));
    const entries = await auditOf(postgres.pg, { owner: world.organization, kind: "source" });
    expect(entries.slice(1).map(({ changes }) => changes)).toEqual([{ run: true }, { run: true }]);
  });

  test("under another name it is another thing, and deleted it leaves nothing", async () => {
    const source = await create("npm", "left-pad");
    await runOn("2026-08-04", source, json(days(["2026-08-01", 3])));
    await as("admin", `PUT ${path()}/${source.id}`, { name: "right-pad" });
    expect(await lines()).toEqual([]);
    await runOn("2026-08-04", source);
    expect(await lines()).toHaveLength(1);
    expect(await as("admin", `DELETE ${path()}/${source.id}`)).toMatchObject({ status: 204 });
    expect(await lines()).toEqual([]);
  });

  test("hides what belongs to a package from those who are blocked from it", async () => {
    const hidden = await makePackage({ name: "secret", libraryType: "npm" });
    const source = await create("npm", "secret", { package: hidden });
    await runOn("2026-08-04", source, json(days(["2026-08-01", 3])));
    await giveLevel("member", hidden, "blocked");
    expect(await as("member", `GET ${path()}/${source.id}`)).toMatchObject(refused(404, "not-found"));
    expect((await as("member", `GET ${path()}`)).body).toMatchObject({ sources: [] });
    const shown = await as(
      "member",
      `GET /v2/${world.organization}/stats/reported?startDate=2026-08-01&endDate=2026-08-04`,
    );
    expect(shown.body).toMatchObject({ sources: [] });
  });
});

describe("what a registry says, whatever it says", () => {
  test("the same answer again changes nothing, and a corrected day keeps its first value", async () => {
    const source = await create("npm", "left-pad");
    await runOn("2026-08-04", source, json(days(["2026-08-02", 5], ["2026-08-03", 0])));
    const before = await lines();
    await runOn("2026-08-04", source);
    expect(await lines()).toEqual(before);
    await runOn("2026-08-05", source, json(days(["2026-08-02", 5], ["2026-08-03", 7])));
    expect(await lines()).toEqual([
      before[0],
      {
        ...before[1],
        value: 7,
        first_value: 0,
        fetched_at: expect.stringMatching(TIMESTAMP) as string,
        changed_at: expect.stringMatching(TIMESTAMP) as string,
      },
    ]);
  });

  test("asking again in any order of answers leaves the last value of each day", async () => {
    const source = await create("npm", "left-pad");
    const answer = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat(1_000)), { maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
        await postgres.pg.query("delete from reported_counts where source_id = $1", [source.id]);
        const expected = new Map<string, number>();
        for (const each of answers) {
          const sums = new Map<string, number>();
          for (const [day, value] of each)
            sums.set(`2026-07-0${day}`, (sums.get(`2026-07-0${day}`) ?? 0) + value);
          for (const [day, value] of sums) expected.set(day, value);
          const answered = json(
            days(...each.map(([day, value]): [string, number] => [`2026-07-0${day}`, value])),
          );
          await runOn("2026-08-04", source, answered);
          await runOn("2026-08-04", source, answered);
        }
        expect(valuesOf(await lines())).toEqual(
          [...expected].sort(([one], [other]) => (one < other ? -1 : 1)),
        );
      }),
      { numRuns: 20, seed: 1 },
    );
  });

  test("days are differences of a counter, and a counter that was set back is a gap", async () => {
    const source = await create("docker-hub", "acme/web");
    await runOn("2026-08-01", source, pulls(100));
    expect(await lines()).toEqual([]);
    await runOn("2026-08-02", source, pulls(130));
    await runOn("2026-08-03", source, pulls(20));
    await runOn("2026-08-03T09:00:00Z", source, pulls(400));
    await runOn("2026-08-04", source, pulls(425));
    await runOn("2026-08-06", source, pulls(435));
    expect(valuesOf(await lines())).toEqual([
      ["2026-08-02", 30],
      ["2026-08-03", null],
      ["2026-08-04", 25],
      ["2026-08-06", 10],
    ]);
  });

  test("a second look on a day counts what came since, and a clock that was set back changes nothing", async () => {
    const source = await create("docker-hub", "acme/web");
    await runOn("2026-08-01", source, pulls(100));
    await runOn("2026-08-02", source, pulls(130));
    await runOn("2026-08-02T18:00:00Z", source, pulls(142));
    await runOn("2026-08-01", source, pulls(150));
    expect(valuesOf(await lines())).toEqual([["2026-08-02", 42]]);
  });

  test("an asset that is replaced counts from 0, and the one before keeps its days", async () => {
    const source = await create("github-releases", "acme/tool");
    const [old, made] = ["2026-07-01T00:00:00Z", "2026-08-03T00:00:00Z"];
    await runOn("2026-08-01", source, traffic(releases([1, "v1", 50, old], [2, "v2", 10, old])));
    await runOn("2026-08-02", source, traffic(releases([1, "v1", 58, old], [2, "v2", 10, old])));
    await runOn("2026-08-03", source, traffic(releases([3, "v1", 4, made], [2, "v2", 11, old])));
    expect(valuesOf(await lines())).toEqual([
      ["2026-08-02", "v1", 8],
      ["2026-08-03", "v1", 4],
      ["2026-08-03", "v2", 1],
    ]);
    expect(
      asked.every(
        ({ headers }) => headers.authorization === undefined || headers.authorization === "Bearer of-github",
      ),
    ).toBe(true);
  });

  test("releases are notes on the charts, once, and none that was taken off comes back", async () => {
    const source = await create("github-releases", "acme/tool");
    const published = (...tags: [tag: string, day: string | null][]) =>
      json(
        tags.map(([tag_name, day]) => ({ tag_name, published_at: day && `${day}T09:00:00Z`, assets: [] })),
      );
    const list = `GET /v2/${world.organization}/annotations`;
    const noted = async () => {
      const { annotations } = (await as("member", list)).body as { annotations: AnnotationRecord[] };
      return annotations.map(({ id, text, date, kind }) => ({ id, note: `${date} ${text} ${kind}` }));
    };
    const answer = traffic(
      published(["v3", null], ["v2", "2026-08-01"], ["v1", "2026-07-01"], ["v0", "2024-01-01"]),
    );
    await runOn("2026-08-01", source, answer);
    await runOn("2026-08-02", source, answer);
    const [first, ...others] = await noted();
    expect([first, ...others].map((each) => each?.note).toSorted()).toEqual([
      "2026-07-01 v1 release",
      "2026-08-01 v2 release",
    ]);
    await as("admin", `DELETE /v2/${world.organization}/annotations/${first?.id ?? ""}`);
    await runOn("2026-08-03", source, answer);
    expect(await noted()).toEqual(others);
    const query = `?action=annotations.add-releases&actor=${SERVICE}`;
    const { body } = await as("owner", `GET /v2/${world.organization}/audit${query}`);
    expect(body).toMatchObject({
      audit_entries: [
        {
          target: { kind: "source", id: source.id, name: "github-releases acme/tool" },
          changes: { count: 2, releases: ["v2", "v1"] },
        },
      ],
    });
  });

  test("releases are added as far as the owner has room for annotations, the newest first", async () => {
    const list = `/v2/${world.organization}/annotations`;
    const noted = async () => {
      const { annotations } = (await as("member", `GET ${list}?per_page=1000`)).body as {
        annotations: AnnotationRecord[];
      };
      return annotations.map(({ text }) => text);
    };
    const before = await noted();
    await as("admin", `POST ${list}`, { date: "2026-08-01", text: "By hand" });
    const tags = Array.from({ length: 6 }, (_, at) => ({
      tag_name: `room-${at}`,
      published_at: `2026-07-0${at + 1}T09:00:00Z`,
      assets: [],
    }));
    const source = await create("github-releases", "acme/room");
    const quota = { annotations: before.length + 4 };
    await runOn("2026-08-01", source, traffic(json(tags)), quota);
    const added = async () => (await noted()).filter((text) => !before.includes(text));
    expect(await added()).toEqual(["By hand", "room-5", "room-4", "room-3"]);
    await runOn("2026-08-02", source, undefined, quota);
    expect(await added()).toHaveLength(4);
    await runOn("2026-08-03", source, undefined, { annotations: 1 });
    expect(await added()).toHaveLength(4);
    await runOn("2026-08-04", source, undefined, { annotations: 10_000 });
    expect(await added()).toEqual(["By hand", ...tags.map(({ tag_name }) => tag_name).toReversed()]);
  });

  test("a redirect takes the token of GitHub to no other host", async () => {
    const source = await create("github-releases", "acme/tool");
    const { port } = server.address() as AddressInfo;
    const elsewhere: Reply = (request, response) =>
      request.headers.host?.startsWith("localhost")
        ? json([])(request, response)
        : status(302, { Location: `http://localhost:${port}${request.url}` })(request, response);
    asked = [];
    await runOn("2026-08-01", source, elsewhere);
    const tokens = (host: string) =>
      asked
        .filter(({ headers }) => headers.host?.startsWith(host))
        .map(({ headers }) => headers.authorization);
    expect(new Set(tokens("127.0.0.1"))).toEqual(new Set(["Bearer of-github"]));
    expect(new Set(tokens("localhost"))).toEqual(new Set([undefined]));
  });

  test("a count of 30 days is taken once in 30 days", async () => {
    const source = await create("homebrew", "acme");
    const installs = (count: number) => json({ analytics: { install: { "30d": { acme: count } } } });
    for (const [day, count] of [
      ["2026-06-01", 10],
      ["2026-06-02", 11],
      ["2026-06-30", 12],
      ["2026-07-01", 13],
    ] as const)
      await runOn(day, source, installs(count));
    expect(valuesOf(await lines())).toEqual([
      ["2026-05-31", 10],
      ["2026-06-30", 13],
    ]);
  });

  test("today is not over: a run around midnight takes whole days alone", async () => {
    const source = await create("npm", "left-pad");
    const answer = json(days(["2026-08-03", 1], ["2026-08-04", 2], ["2026-08-05", 3]));
    await runOn("2026-08-04T23:59:59.999Z", source, answer);
    expect(valuesOf(await lines())).toEqual([["2026-08-03", 1]]);
    await runOn("2026-08-05T00:00:00.001Z", source, answer);
    expect(valuesOf(await lines())).toEqual([
      ["2026-08-03", 1],
      ["2026-08-04", 2],
    ]);
  });

  test("an unchanged answer is not read again, and a counter then has a day of 0", async () => {
    const source = await create("docker-hub", "acme/web");
    const tagged: Reply = (request, response) =>
      request.headers["if-none-match"] === '"one"'
        ? status(304)(request, response)
        : json({ pull_count: 100 }, { ETag: '"one"' })(request, response);
    await runOn("2026-08-01", source, tagged);
    await runOn("2026-08-02", source, tagged);
    expect(valuesOf(await lines())).toEqual([["2026-08-02", 0]]);
  });

  test.each<[string, Reply, RegExp]>([
    [
      "HTML with status 200",
      (_, response) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<html>"),
      /not JSON \(text\/html\)/,
    ],
    [
      "20 MB",
      (_, response) => void response.writeHead(200).end(Buffer.alloc(20 * 1024 * 1024, "[")),
      /larger than 10 MiB/,
    ],
    ["another shape", json({ downloads: "many" }), /does not match the registry's documentation/],
    ["a date that is none", json(days(["2026-02-31", 1])), /2026-02-31 is not a date/],
    ["a connection that breaks", (request) => void request.socket.destroy(), /could not be reached/],
    ["a thing that went", status(404), /npm has no package named left-pad/],
  ])("%s loses nothing and is said in a sentence", async (_, answer, sentence) => {
    const source = await create("npm", "left-pad");
    await runOn("2026-08-04", source, json(days(["2026-08-01", 3])));
    const before = await lines();
    const { last_error } = await runOn("2026-08-04", source, answer);
    expect(last_error).toMatch(sentence);
    expect(await lines()).toEqual(before);
    expect(await runOn("2026-08-04", source, json(days(["2026-08-01", 3])))).not.toHaveProperty("last_error");
  });

  test("a registry that wants fewer requests is left alone for as long as it says", async () => {
    const limited = await create("npm", "left-pad");
    const other = await create("npm", "right-pad");
    now = new Date();
    reply = status(429, { "Retry-After": "7200" });
    const before = asked.length;
    await runKind(workerOf(), "npm", new AbortController().signal);
    expect(asked).toHaveLength(before + 1);
    for (const source of [limited, other])
      expect(Date.parse((await read(source)).next_run_at ?? "")).toBeGreaterThan(now.getTime() + 7_190_000);
    expect([(await read(limited)).last_error, (await read(other)).last_error]).toContain(
      "npm is limiting requests (429).",
    );
  });
});

describe("exports of what registries counted", () => {
  async function filled(): Promise<SourceRecord> {
    const source = await create("crates", "acme");
    await runOn(
      "2026-08-04",
      source,
      json({
        version_downloads: [{ version: 1, date: "2026-08-01", downloads: 30 }],
        versions: [{ id: 1, num: '1.0.0,"x"' }],
        meta: { extra_downloads: [{ date: "2026-08-01", downloads: 7 }] },
      }),
    );
    await grant();
    return source;
  }
  const range = "startDate=2026-08-01&endDate=2026-08-02";
  const reported = (ending = "", query = range) => `GET /v2/${world.organization}/reported${ending}?${query}`;

  test("NDJSON, CSV and Parquet have the same rows, by source, date and version", async () => {
    const { id } = await filled();
    expect(await lines(range)).toMatchObject([
      {
        source: id,
        kind: "crates",
        name: "acme",
        date: "2026-08-01",
        metric: "downloads",
        value: 7,
        first_value: 7,
      },
      { version: '1.0.0,"x"', value: 30 },
    ]);
    const { body: csv } = await as("admin", reported(".csv"));
    const [header, first, second, end] = String(csv).split("\n");
    expect(header).toBe(
      "source,kind,name,package_id,date,version,metric,value,first_value,fetched_at,changed_at",
    );
    expect(first).toMatch(/^[0-9a-f-]{36},crates,acme,,2026-08-01,,downloads,7,7,2/);
    expect(second).toContain(',"1.0.0,""x""",downloads,30,30,');
    expect(end).toBe("");
    const answer = await fetch(`${api.url}/v2/${world.organization}/reported.parquet?${range}`, {
      headers: { Authorization: `Bearer ${world.tokens.admin}` },
    });
    const rows = await parquetReadObjects({ file: await answer.arrayBuffer() });
    expect(rows.map(({ version, value }): unknown[] => [version, value])).toEqual([
      [null, 7n],
      ['1.0.0,"x"', 30n],
    ]);
  });

  test("needs the grant and the role, and takes no other source, range or format", async () => {
    const { id } = await filled();
    expect(await as("admin", reported("", `${range}&source=${id}`))).toMatchObject({ status: 200 });
    expect(await as("member", reported())).toMatchObject(refused(403, "forbidden"));
    expect(
      await as("admin", reported("", `${range}&source=01a1fbad-ca48-70ed-9525-6dc0dcdf7c27`)),
    ).toMatchObject(refused(404, "not-found"));
    expect(await as("admin", reported("", `${range}&package=none`))).toMatchObject(refused(404, "not-found"));
    expect(await as("admin", reported(".xlsx"))).toMatchObject(refused(404, "not-found"));
    expect(await as("admin", reported("", "startDate=2026-08-01"))).toMatchObject(
      refused(400, "invalid-date"),
    );
    await postgres.pg.query("update owners set export_enabled = false where name = $1", [world.organization]);
    expect(await as("admin", reported())).toMatchObject(refused(403, "export-not-granted"));
  });

  test("charts have a number for each day without the grant", async () => {
    const source = await create("docker-hub", "acme/web");
    await runOn("2026-08-01", source, pulls(100));
    await runOn("2026-08-02", source, pulls(130));
    const { body } = await as(
      "member",
      `GET /v2/${world.organization}/stats/reported?startDate=2026-08-01&endDate=2026-08-04`,
    );
    expect(body).toMatchObject({
      sources: [{ kind: "docker-hub", metric: "pulls", total: 30, days: [null, 30, null] }],
    });
  });
});

test("five hundred sources in one run take a few statements each and no memory to speak of", async () => {
  const text = `
    insert into sources (id, owner_id, kind, name, next_run_at)
    select gen_random_uuid(), id, 'npm', 'package-' || number, now() from owners, generate_series(1, 500) as number
    where name = $1`;
  await postgres.pg.query(text, [world.organization]);
  const year = Array.from({ length: 365 }, (_, day): [string, number] => [
    new Date(Date.UTC(2025, 7, 1 + day)).toISOString().slice(0, 10),
    day,
  ]);
  reply = json(days(...year));
  let statements = 0;
  const counted = new Proxy(postgres.pg, {
    get(pool, name) {
      if (name === "query" || name === "connect") statements++;
      const value: unknown = Reflect.get(pool, name);
      return typeof value === "function" ? (value.bind(pool) as unknown) : value;
    },
  });
  const before = process.memoryUsage().heapUsed;
  await runKind({ ...workerOf(), pg: counted }, "npm", new AbortController().signal);
  const { rows } = await postgres.pg.query<{ counted: number }>(
    "select count(*)::int as counted from reported_counts where fetched_at > now() - interval '1 hour'",
  );
  expect(rows[0]?.counted).toBeGreaterThanOrEqual(500 * 365);
  // A claim, and a transaction of at most seven statements.
  expect(statements / 501).toBeLessThanOrEqual(3);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
});
