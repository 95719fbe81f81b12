import { parse } from "csv-parse/sync";
import { beforeAll, expect, test } from "vitest";
import type { CollectCall } from "../../../support/collect/collect-client.js";
import { COLLECT_ORGANIZATION, useCollectWorld, world } from "../../../support/collect/collect-world.js";
import {
  newDockerPackage,
  newNpmPackage,
  newPythonPackage,
} from "../../../support/collect/registry-packages.js";
import { TELEMETRY_REPORTS } from "../../../support/collect/telemetry-clients.js";
import { useServer } from "../../../support/collect/use-server.js";

const REFERER = "https://page.example/start?a=1,2";
const PAGE = "https://docs.example/read";
const WEB = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const DOCKER = "docker/27.3.1 go/go1.22.7 os/linux arch/amd64";
const PIP = 'pip/24.2 {"ci":null,"cpu":"x86_64"}';
const NPM = "npm/10.8.2 node/v20.16.0 linux x64 workspaces/false";
const FILES = "https://files.example";
const IMAGE = "https://cr.example.org/acme/web";
const REPORT = '{"dependencyInfo":{"parent":{"name":"@acme/web","version":"3.1.4"}}}';

const LINUX = { breakdown: "platform", platform: "Linux" };
const TOTAL = { breakdown: "total", unique_total: 1 };
const client = (name: string, version: string) => ({
  breakdown: "client",
  client: name,
  client_version: version,
});

/** A request, its row in the export, and its lines in the aggregates, in their order. */
const KINDS = {
  file: {
    call: { host: "get.tool.example", path: "/get/1.4.0/a%26b.tgz" },
    status: 307,
    row: {
      type: "file-download",
      package: "tool",
      version: "1.4.0",
      user_agent: WEB,
      variables: "version=1.4.0&file=a%26b.tgz",
    },
    counted: [
      client("Firefox", "130.0"),
      LINUX,
      TOTAL,
      { breakdown: "variable", variable: "file", value: "a&b.tgz" },
      { breakdown: "variable", variable: "version", value: "1.4.0" },
    ],
  },
  docker: {
    call: { host: "cr.example.org", path: "/v2/acme/web/manifests/2.1" },
    status: 307,
    row: { type: "image-pull", package: IMAGE, version: "2.1", user_agent: DOCKER, variables: "" },
    counted: [client("docker", "27.3.1"), LINUX, TOTAL, { breakdown: "version", version: "2.1" }],
  },
  python: {
    call: { host: "pip.example.org", path: "/simple/pyweb/pyweb-2.0.zip" },
    status: 307,
    row: { type: "package-download", package: "pyweb", version: "2.0", user_agent: PIP, variables: "" },
    counted: [client("pip", "24.2"), TOTAL],
  },
  npm: {
    call: { host: "any.example", method: "POST", path: "/package-event/install", body: REPORT },
    status: 200,
    row: { type: "package-download", package: "@acme/web", version: "3.1.4", user_agent: NPM, variables: "" },
    counted: [client("npm", "10.8.2"), LINUX, TOTAL],
  },
};

let documented: string;
let pixelId: string;
const packages = {} as Record<keyof typeof KINDS, string>;

const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10);
const range = { startDate: day(-1), endDate: day(2) };

const upstream = useServer((_, response) => {
  const files = [{ filename: "pyweb-2.0.zip", url: `${FILES}/pyweb-2.0.zip`, hashes: {} }];
  response.writeHead(200, { "Content-Type": "application/vnd.pypi.simple.v1+json" });
  response.end(JSON.stringify({ meta: { "api-version": "1.0" }, name: "pyweb", files }));
});
useCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });

beforeAll(async () => {
  const routes = [{ templatePath: "/get/{version}/{file}", outgoingUrl: `${FILES}/{file}` }];
  packages.file = await world.newFilePackage({ name: "tool", domains: ["get.tool.example"], routes });
  const image = { backendUrl: "https://ghcr.io/acme/web", publicUrl: IMAGE };
  packages.docker = await newDockerPackage(world, image);
  packages.npm = await newNpmPackage(world, "@acme/web");
  documented = await newNpmPackage(world, "@acme/documented");
  const pixel = { name: "docs", package_id: documented };
  pixelId = (await world.api.post<{ id: string }>(`/v2/pixels/${COLLECT_ORGANIZATION}`, pixel)).id;
  // Made last: once it is served, what came before it is known.
  const served = { name: "pyweb", domain: "pip.example.org", repositoryURL: upstream().url };
  packages.python = await newPythonPackage(world, served);
});

type Row = Record<string, string>;

/** Asks the collector; answers between which times it did. */
async function ask({ status, ...call }: CollectCall & { status: number }) {
  const from = Date.now();
  expect((await world.call(call)).status).toBe(status);
  return { from, to: Date.now() };
}

async function rowsOf(path: string): Promise<Row[]> {
  const answer = await world.api.request(`${path}?${new URLSearchParams(range).toString()}`);
  return parse<Row>(await answer.text(), { columns: true });
}

/** The only row that the export of an artifact gets; its day. */
async function expectRow(
  path: string,
  { row, asked }: { row: Row; asked: { from: number; to: number } },
): Promise<string> {
  await expect.poll(() => rowsOf(path)).toHaveLength(1);
  const [got] = await rowsOf(path);
  expect(got).toMatchObject(row);
  const time = got?.["time"] ?? "";
  expect(Date.parse(time)).toBeGreaterThanOrEqual(asked.from);
  expect(Date.parse(time)).toBeLessThanOrEqual(asked.to);
  return time.slice(0, 10);
}

async function aggregatesOf(packageId: string) {
  const lines = await world.api.readAggregates(COLLECT_ORGANIZATION, range);
  return lines.filter((line) => line.package === packageId);
}

test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
  "a request to a package is in its CSV, and in the aggregates (%s)",
  async (kind) => {
    const { call, status, row, counted } = KINDS[kind];
    const headers = { "User-Agent": row.user_agent, Referer: REFERER };
    const asked = await ask({ ...call, headers, status });
    const path = `/v1/packages/${packages[kind]}/events/all.csv`;
    const date = await expectRow(path, { row: { ...row, referer: REFERER, pixel: "" }, asked });
    const lines = counted.map((line) => ({ ...line, date, package: packages[kind], total: 1 }));
    await expect.poll(() => aggregatesOf(packages[kind])).toEqual(lines);
  },
);

test("a route that only collects keeps all that telemetry libraries send", async () => {
  const host = "telemetry.example.org";
  const routes = [{ templatePath: "/collect", outgoingUrl: "" }];
  const id = await world.newFilePackage({ name: "telemetry", domains: [host], routes });
  const reports = Object.values(TELEMETRY_REPORTS);
  for (const { call } of reports) await ask({ ...call, host, status: 200 });
  const readRows = () => rowsOf(`/v1/packages/${id}/events/all.csv`);
  await expect.poll(readRows).toHaveLength(reports.length);
  const rows = new Map((await readRows()).map((row) => [row["user_agent"], row]));
  for (const { call, row } of reports) {
    const { type, version, platform, variables } = rows.get(call.headers["User-Agent"]) ?? {};
    expect({ type, version, platform }).toEqual({
      type: "file-download",
      version: row.version,
      platform: row.platform,
    });
    expect(Object.fromEntries(new URLSearchParams(variables))).toEqual(row.variables);
  }
});

test("a view is in the CSV of its pixel and of the pixel's package, and not in the aggregates", async () => {
  const path = `/a.png?x-pxid=${pixelId}&page=${encodeURIComponent(PAGE)}`;
  const headers = { "User-Agent": WEB, Referer: REFERER };
  const asked = await ask({ host: "any.example", path, headers, status: 200 });
  const row = { type: "pixel-fetch", version: "", user_agent: WEB, referer: PAGE, variables: "" };
  for (const of of ["pixels", `packages/${documented}`])
    await expectRow(`/v1/${of}/events/all.csv`, { row: { ...row, pixel: pixelId }, asked });
  expect(await aggregatesOf(documented)).toEqual([]);
});
