import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { COLLECT_ORGANIZATION, useCollectWorld, world } from "../../../support/collect/collect-world.js";
import { newDockerPackage, newNpmPackage } from "../../../support/collect/registry-packages.js";

const HOST = "cr.acme.example";
const WITHIN = { interval: 20 };
const DOCKER = { "User-Agent": "docker/27.3.1" };

let eve: ApiClient;
let pool: pg.Pool;
useCollectWorld();
beforeAll(async () => {
  eve = await world.toolchain.newAccount("eve");
  pool = new pg.Pool({ connectionString: world.toolchain.endpoints.postgres, max: 1 });
});
afterAll(() => pool?.end());

const image = (name: string, publicUrl?: string) => ({
  name,
  shortDescription: "For a test",
  libraryType: "docker",
  backendUrl: `https://eve.example/${name}`,
  ...(publicUrl !== undefined && { publicUrl }),
});

const put = (id: string, body: object) => ({
  method: "PUT",
  path: `/v1/packages/${id}`,
  body: JSON.stringify(body),
});

/** Requests of another owner are refused before anything is sent. */
async function statusOf({ path, ...sent }: { path: string; method: string; body: string }): Promise<number> {
  const headers = { Authorization: `Bearer ${eve.token}` };
  return (await fetch(`${eve.url}${path}`, { ...sent, headers })).status;
}

async function leadsTo(path: string): Promise<string | undefined> {
  return (await world.call({ method: "HEAD", host: HOST, path, headers: DOCKER })).headers.location;
}

test("the images of a host go to their owner's registry, and to no other owner's", async () => {
  const older = await eve.post<PackageV1>("/v1/packages", image("acme/web"));
  const urls = { backendUrl: "https://ghcr.io/acme/web", publicUrl: `https://${HOST}/acme/web` };
  const id = await newDockerPackage(world, urls);
  const second = { backendUrl: "https://quay.io/acme/other", publicUrl: `https://${HOST}/acme/other` };
  await newDockerPackage(world, second);

  expect(await statusOf(put(older.uuid, image("acme/web", `https://${HOST}/acme/web`)))).toBe(422);
  const more = { method: "POST", path: "/v1/packages" };
  for (const authority of [HOST, `${HOST.toUpperCase()}:5000`]) {
    const body = JSON.stringify(image("acme/more", `https://${authority}/acme/more`));
    expect(await statusOf({ ...more, body })).toBe(422);
  }
  // Changes become known in their order: with this one known, the others would be.
  await newDockerPackage(world, {
    backendUrl: "https://ghcr.io/a/last",
    publicUrl: "https://last.example/a/last",
  });
  expect(await leadsTo("/v2/")).toBe("https://ghcr.io/v2/");
  expect(await leadsTo("/v2/acme/web/manifests/1")).toBe("https://ghcr.io/v2/acme/web/manifests/1");
  expect(await leadsTo("/v2/acme/other/manifests/1")).toBe("https://quay.io/v2/acme/other/manifests/1");
  expect(await leadsTo("/v2/acme/more/manifests/1")).toBeUndefined();

  await world.api.request(`/v1/packages/${id}`, { method: "DELETE" });
  await expect.poll(() => leadsTo("/v2/"), WITHIN).toBe("https://quay.io/v2/");
  expect(await leadsTo("/v2/acme/web/manifests/1")).toBeUndefined();
});

test("a host that its owner gave up is served for the next one", async () => {
  const packages = await world.api.get<PackageV1[]>(`/v1/organizations/${COLLECT_ORGANIZATION}/packages`);
  for (const { uuid } of packages) await world.api.request(`/v1/packages/${uuid}`, { method: "DELETE" });
  // As if 30 days had gone by.
  await pool.query("delete from held_hosts where host = $1", [HOST]);
  await eve.post<PackageV1>("/v1/packages", image("eve/own", `https://${HOST}/eve/own`));
  await expect.poll(() => leadsTo("/v2/"), WITHIN).toBe("https://eve.example/v2/");
});

test("the host of page views and npm reports is no package's domain, and the npm name no other owner's", async () => {
  const own = "px.acme.example";
  await newNpmPackage(world, "@acme/reported");
  const report = JSON.stringify({ dependencyInfo: { parent: { name: "@acme/reported", version: "1.0.0" } } });
  const isNoted = async () => {
    await world.call({ method: "POST", host: own, path: "/package-event/install", body: report });
    const noted = await pool.query("select from collection_hosts where host = $1", [own]);
    return noted.rowCount;
  };
  await expect.poll(isNoted, WITHIN).toBe(1);
  const files = await eve.post<PackageV1>("/v1/packages", { name: "files", shortDescription: "" });
  const path = `/v1/packages/${files.uuid}/domains`;
  expect(await statusOf({ method: "POST", path, body: JSON.stringify({ name: own }) })).toBe(422);
  const npm = { name: "@acme/reported", shortDescription: "", libraryType: "npm" };
  expect(await statusOf({ method: "POST", path: "/v1/packages", body: JSON.stringify(npm) })).toBe(409);
});

test("the host that pixels and npm reports come to keeps them when someone has images there", async () => {
  const host = "127.0.0.1";
  const pixel = await world.newPixel("docs");
  await eve.post<PackageV1>("/v1/packages", image("eve/x", `http://${host}:8081/eve/x`));
  const call = async (path: string, method = "GET") =>
    (await world.call({ host, path, method, headers: DOCKER })).status;
  await expect.poll(() => call("/v2/eve/x/tags/list"), WITHIN).toBe(307);
  expect(await call(`/a.png?x-pxid=${pixel}`)).toBe(200);
  expect(await call("/package-event/install", "GET")).toBe(405);
  expect(await call("/healthz")).toBe(200);
  expect(await call("/else")).toBe(404);
  await expect.poll(async () => (await world.events(pixel)).map(({ type }) => type)).toEqual(["pixel-fetch"]);
});

test("a host that is nobody's answers as a registry that does not have the image", async () => {
  const reply = await world.call({ host: "nobody.example", path: "/v2/a/b/manifests/1" });
  expect(reply.status).toBe(404);
  expect(JSON.parse(reply.body.toString())).toMatchObject({ errors: [{ code: "NAME_UNKNOWN" }] });
});
