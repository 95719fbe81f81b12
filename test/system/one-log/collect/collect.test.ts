import { inflateSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { COLLECT_ORGANIZATION, useCollectWorld, world } from "../../../support/collect/collect-world.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import type { PackageRouteV1 } from "../../../../schemas/contracts/package-routing.js";

const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const ROUTES = [
  {
    templatePath: "/get/{version}/{platform}/{+file}",
    outgoingUrl: "https://files.example/{version}/{+file}",
  },
  { templatePath: "/latest", outgoingUrl: "https://files.example/latest?from=here#top" },
  { templatePath: "/hello", outgoingUrl: "" },
];
const GERMAN = "141.113.0.20";

let packageId: string;
let pixelId: string;
useCollectWorld({
  env: { COLLECT_HOST: "collect.example", TRUSTED_PROXIES: "127.0.0.0/8,10.0.0.0/8" },
  prepared: ["databases", "networks"],
});
beforeAll(async () => {
  packageId = await world.newFilePackage({ name: "tool", domains: ["get.tool.example"], routes: ROUTES });
  pixelId = await world.newPixel("docs");
});

const onTool = { host: "get.tool.example" };
const pixelPath = (id: string, more = "") => `/a.png?x-pxid=${id}${more}`;

/** Events of an artifact whose `User-Agent` names this test. */
async function eventsOf(artifactId: string, userAgent: string) {
  return (await world.events(artifactId)).filter((event) => event.userAgent === userAgent);
}

describe("a download", () => {
  test("is a redirect, then an event with all that is known of it, then part of the aggregates", async () => {
    const headers = { "User-Agent": AGENT, Referer: "https://page.example/", "X-Forwarded-For": GERMAN };
    const path = "/get/1.4.0/riscos/bin/tool.tgz?utm=x";
    const reply = await world.call({ ...onTool, path, headers });
    expect(reply.status).toBe(307);
    expect(reply.headers.location).toBe("https://files.example/1.4.0/bin/tool.tgz?utm=x");
    await expect.poll(() => eventsOf(packageId, AGENT)).toHaveLength(1);
    const [event] = await eventsOf(packageId, AGENT);
    expect(event).toMatchObject({
      type: "file-download",
      version: "1.4.0",
      platform: "riscos",
      client: "Firefox",
      country: "DE",
      domain: "get.tool.example",
      referer: "https://page.example/",
      variables: { version: "1.4.0", platform: "riscos", file: "bin/tool.tgz", utm: "x" },
      times: 1,
    });
    const today = new Date().toISOString().slice(0, 10);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const range = { startDate: today, endDate: tomorrow };
    const ours = async () => {
      const lines = await world.api.readAggregates(COLLECT_ORGANIZATION, range);
      return lines.filter((line) => line.package === packageId);
    };
    const counted = [
      { breakdown: "total", total: 1, unique_total: 1 },
      { breakdown: "variable", variable: "version", value: "1.4.0", total: 1 },
      { breakdown: "platform", platform: "riscos", total: 1 },
      { breakdown: "country", country: "DE", total: 1 },
    ];
    // The views follow the rows by a moment.
    const each = counted.map((line): unknown => expect.objectContaining(line));
    await expect.poll(ours).toEqual(expect.arrayContaining(each));
  });

  test("keeps the target's own parameters and its fragment", async () => {
    const reply = await world.call({
      ...onTool,
      method: "HEAD",
      path: "/latest?from=there&a=1&a=2&%66rom=3",
    });
    expect(reply.headers.location).toBe("https://files.example/latest?from=here&a=1&a=2#top");
  });

  test("is answered 200 by a route that only collects, and counts each object of the body", async () => {
    const headers = { "User-Agent": "objects/1" };
    const post = (body: string) => world.call({ ...onTool, method: "POST", path: "/hello", headers, body });
    const reply = await post('{"a":{"b":"}"}}{"c":1}\n {}');
    expect([reply.status, reply.body.length]).toEqual([200, 0]);
    expect((await post("name=value")).status).toBe(200);
    expect((await post("{}".repeat(101))).status).toBe(413);
    expect((await post(" ".repeat(65_537))).status).toBe(413);
    await expect
      .poll(async () => (await eventsOf(packageId, "objects/1")).map(({ times }) => times))
      .toEqual([1, 1, 1, 1]);
  });

  test.each([
    ["a path that no route takes", { path: "/nothing" }, 404],
    ["a method that is none of a download", { path: "/latest", method: "PUT" }, 405],
    ["the picture of a pixel: the domain is the package's", { path: pixelPath("x") }, 404],
  ])("is not %s", async (_, call, status) => {
    const reply = await world.call({ ...onTool, ...call });
    expect([reply.status, reply.body.length]).toEqual([status, 0]);
    expect(reply.headers.allow).toBe(status === 405 ? "GET, HEAD, POST" : undefined);
  });
});

describe("a view", () => {
  test("is a transparent picture and an event of the pixel, with the page that it was on", async () => {
    const headers = { "User-Agent": "view/1", Referer: "https://other.example/" };
    const host = "collect.example";
    const page = encodeURIComponent("https://docs.example/start?a=1");
    const reply = await world.call({
      host,
      path: pixelPath(pixelId.toUpperCase(), `&page=${page}`),
      headers,
    });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      "content-type": "image/png",
      "cache-control": "no-cache, no-store, must-revalidate",
    });
    // Width, height, bit depth, colour type; one scan line of four zeros.
    expect([...reply.body.subarray(16, 26)]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 8, 6]);
    const data = reply.body.indexOf("IDAT") + 4;
    expect([...inflateSync(reply.body.subarray(data))]).toEqual([0, 0, 0, 0, 0]);
    await world.call({ host, path: pixelPath(pixelId), headers });
    await expect
      .poll(async () => (await eventsOf(pixelId, "view/1")).map(({ type, referer }) => [type, referer]))
      .toEqual([
        ["pixel-fetch", "https://docs.example/start?a=1"],
        ["pixel-fetch", "https://other.example/"],
      ]);
  });

  test.each([
    ["an unknown pixel is the same picture", { path: pixelPath("12345") }, 200],
    ["another method is refused", { path: pixelPath("12345"), method: "POST" }, 405],
    ["another path is not found", { path: "/b.png" }, 404],
    ["another host is not found", { path: pixelPath("12345"), host: "else.example" }, 404],
    ["health is answered on every host", { path: "/healthz", host: "else.example" }, 200],
  ])("of %s", async (_, call, status) => {
    expect((await world.call({ host: "COLLECT.example.:8081", ...call })).status).toBe(status);
  });
});

test("a caller that objects to being tracked is served and not recorded", async () => {
  const call = (headers: Record<string, string>) =>
    world.call({ ...onTool, path: "/latest", headers: { "User-Agent": "private/1", ...headers } });
  for (const headers of [{ DNT: "1" }, { "Sec-GPC": "1" }]) expect((await call(headers)).status).toBe(307);
  expect((await call({ DNT: "0" })).status).toBe(307);
  await expect.poll(() => eventsOf(packageId, "private/1")).toHaveLength(1);
});

test("clients behind trusted proxies are told apart by the address that these forward", async () => {
  const agent = "behind/1";
  const call = (headers: Record<string, string>) =>
    world.call({ ...onTool, path: "/latest", headers: { "User-Agent": agent, ...headers } });
  await call({ "X-Forwarded-For": "203.0.113.9" });
  await call({ "X-Forwarded-For": "198.51.100.1, 203.0.113.9, 10.0.0.3" });
  await call({ Forwarded: 'for=198.51.100.1, for="203.0.113.9:4711";proto=https, for=10.0.0.3' });
  await call({ Forwarded: 'For="[2001:db8:1::9]:443"' });
  await call({ "X-Forwarded-For": "2001:db8:1::9" });
  await call({});
  await expect.poll(() => eventsOf(packageId, agent)).toHaveLength(6);
  const ids = (await eventsOf(packageId, agent)).map(({ endpointId }) => endpointId);
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids.slice(3, 5)).size).toBe(1);
  expect(new Set(ids).size).toBe(3);
});

test("a change of a route, a domain or a package is served once it is answered", async () => {
  const routes = `/v1/packages/${packageId}/routes`;
  const status = async (path: string) => (await world.call({ ...onTool, method: "HEAD", path })).status;
  for (const path of ["/new", "/newer", "/newest"]) {
    const made = await world.api.post<PackageRouteV1>(routes, { templatePath: path, outgoingUrl: "" });
    expect(await status(path)).toBe(200);
    await world.api.request(`${routes}/${made.id}`, { method: "DELETE" });
    expect(await status(path)).toBe(404);
  }

  const gone = await world.newFilePackage({ name: "gone", domains: ["gone.example"], routes: ROUTES });
  const onGone = () => world.call({ host: "gone.example", method: "HEAD", path: "/latest" });
  expect((await onGone()).status).toBe(307);
  await world.api.request(`/v1/packages/${gone}`, { method: "DELETE" });
  expect((await onGone()).status).toBe(404);
});

test("metrics tell requests by kind and status, and events", async () => {
  const waiting = async () => {
    const now = await readMetrics(world.toolchain);
    return now.sum("collect_events_total") - now.sum("enrich_live_events_total", { outcome: "stored" });
  };
  await expect.poll(waiting).toBe(0);
  const metrics = await readMetrics(world.toolchain);
  expect(metrics.sum("collect_requests_total", { kind: "file", status: "307" })).toBeGreaterThan(5);
  expect(metrics.sum("collect_requests_total", { kind: "pixel", status: "405" })).toBe(1);
  expect(metrics.sum("collect_events_lost_total")).toBe(0);
  expect(metrics.sum("collect_buffer_bytes")).toBe(0);
  expect(metrics.sum("collect_sites_fresh")).toBe(1);
});
