import type { RequestListener } from "node:http";
import { describe, expect, it, test } from "vitest";
import {
  countEvents,
  deviatingCases,
  eventsBefore,
  literalCases,
  titled,
  type CollectCase,
  type DockerRule,
  type PythonRule,
} from "../../../support/collect/collect-cases.js";
import { useCollectWorld, world } from "../../../support/collect/collect-world.js";
import {
  newDockerPackage,
  newNpmPackage,
  newPythonPackage,
} from "../../../support/collect/registry-packages.js";
import { readMetrics } from "../../../support/program/read-metrics.js";
import { startServer } from "../../../support/collect/start-server.js";
import { useServer } from "../../../support/collect/use-server.js";

const ofKind = <Case extends CollectCase>(cases: readonly Case[], kind: string) =>
  cases.filter(({ name }) => name.startsWith(kind));

/** The upstream's files, by path. */
const pages = new Map<string, unknown>();
const answerUpstream: RequestListener = ({ url = "" }, response) => {
  const headers = { "Content-Type": "application/vnd.pypi.simple.v1+json" };
  response.writeHead(pages.has(url) ? 200 : 404, headers).end(JSON.stringify(pages.get(url)));
};

const upstream = useServer(answerUpstream);
useCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });

/** The upstream gets the files of the rules, the last first; answers where its index is. */
function publish(name: string, rules: readonly PythonRule[]): string {
  const meta = { "api-version": "1.0" };
  const projects = new Set(rules.map((rule) => rule["package-name"]).reverse());
  pages.set(`/${name}/`, { meta, projects: [...projects].map((project) => ({ name: project })) });
  for (const project of projects) {
    const files = rules.filter((rule) => rule["package-name"] === project).reverse();
    pages.set(`/${name}/${project}/`, {
      meta,
      name: project,
      files: files.map((file) => ({ filename: file["file-name"], url: file["backend-url"], hashes: {} })),
    });
  }
  return `${upstream().url}/${name}/`;
}

/** As a client that is redirected to registries. */
async function ask({ request: { method, path, headers, body } }: CollectCase) {
  const asDocker = { "User-Agent": "docker/27.3.1" };
  return world.call({ method, path, host: headers.Host, headers: asDocker, body: body ?? undefined });
}

function check(reply: Awaited<ReturnType<typeof ask>>, expected: CollectCase["expect"]) {
  const { Etag, ...headers } = expected.headers;
  expect(reply.status).toBe(expected.status);
  for (const [name, value] of Object.entries(headers)) expect(reply.headers[name.toLowerCase()]).toBe(value);
  expect(reply.body.toString()).toBe(expected.body);
  // Any value will do: only the server that made a tag can read it.
  expect(reply.headers.etag === undefined).toBe(Etag === undefined);
}

/** A domain for each Python case, whose package is asked what the case asks; answers its events, but for `count`. */
async function askPython(each: CollectCase, { count }: { count: number }) {
  const { name, request } = each;
  const domain = `${name}.${request.headers.Host}`;
  const repositoryURL = publish(name, each.rules as PythonRule[]);
  const id = await newPythonPackage(world, { name: "numpy", domain, repositoryURL });
  check(await ask({ ...each, request: { ...request, headers: { Host: domain } } }), each.expect);
  const marker = { path: "/simple/numpy/numpy-1.3.0.tar.gz", host: domain };
  const events = await eventsBefore(world, { id, count, marker });
  // The next case has a package of this name as well.
  await world.api.request(`/v1/packages/${id}`, { method: "DELETE" });
  return events.map(({ type, version }) => `${type} ${version}`);
}

describe("the answers of a package gateway are given here as well", () => {
  test("the cases of registries are all there", () => {
    const count = (cases: readonly CollectCase[]) =>
      ["docker", "python", "npm"].map((kind) => ofKind(cases, kind).length);
    expect([count(literalCases), count(deviatingCases)]).toEqual([
      [1, 1, 0],
      [0, 3, 1],
    ]);
  });

  test.each(ofKind(literalCases, "docker"))("$name", async (each) => {
    const [rule] = each.rules as DockerRule[];
    const path = rule?.["repository-name"];
    const backendUrl = `https://${rule?.registry}/${path}`;
    const id = await newDockerPackage(world, { backendUrl, publicUrl: `https://${rule?.domain}/${path}` });
    check(await ask(each), each.expect);
    const marker = { path: `/v2/${path}/manifests/marker`, host: each.request.headers.Host };
    const events = await eventsBefore(world, { id, count: each.expect.events, marker });
    expect(events.map(({ type, version }) => `${type} ${version}`)).toEqual(["image-pull latest"]);
  });

  // Before those of Python: their packages are deleted, and after a while their events, which are counted here.
  test.each(titled(ofKind(deviatingCases, "npm")))("%s", async (_, each) => {
    const id = await newNpmPackage(world, "marker");
    const later = { name: "marked", domain: "marked.example.org", repositoryURL: upstream().url };
    await newPythonPackage(world, later);
    const before = await countEvents(world);
    check(await ask(each), each.expect);
    const { method, path, headers } = each.request;
    const body = '{"dependencyInfo":{"parent":{"name":"marker","version":"1.0"}}}';
    const marker = { method, path, host: headers.Host, body };
    expect(await eventsBefore(world, { id, count: 0, marker })).toEqual([]);
    expect(await countEvents(world)).toBe(before + 1);
  });

  test.each(ofKind(literalCases, "python"))("$name", async (each) => {
    expect(await askPython(each, { count: each.expect.events })).toEqual(["package-download 1.3.0"]);
  });

  test.each(titled(ofKind(deviatingCases, "python")))("%s", async (_, each) => {
    expect(await askPython(each, { count: 0 })).toEqual([]);
  });
});

describe("a Python index", () => {
  const rule: PythonRule = {
    type: "python-v1",
    domain: "",
    "package-name": "web",
    "file-name": "web-2.0.zip",
    "backend-url": "https://cdn.example/web-2.0.zip",
  };

  it("is answered as known to who has it", async () => {
    const repositoryURL = publish("known", [rule]);
    await newPythonPackage(world, { name: "known", domain: "known.example.org", repositoryURL });
    const asked = { path: "/simple/web/", host: "known.example.org" };
    const first = await world.call(asked);
    const again = await world.call({ ...asked, headers: { "If-None-Match": first.headers.etag ?? "" } });
    expect([first.status, again.status, again.body.length]).toEqual([200, 304, 0]);
    expect((await world.call({ ...asked, path: "/simple/other/" })).status).toBe(404);
  });

  it("is a 502 while the upstream is unreachable and nothing is known of it", async () => {
    const gone = await startServer(answerUpstream);
    await gone[Symbol.asyncDispose]();
    const made = { name: "gone", domain: "gone.example.org", repositoryURL: `${gone.url}/simple/` };
    await newPythonPackage(world, made);
    const reply = await world.call({ path: "/simple/web/", host: made.domain });
    expect([reply.status, reply.headers["retry-after"]]).toEqual([502, "5"]);
    const metrics = await readMetrics(world.toolchain);
    expect(metrics.sum("collect_upstream_failures_total", { kind: "python" })).toBeGreaterThan(0);
  });
});
