import { describe, expect, test } from "vitest";
import { answerRequest } from "../../../../ingest/collect/answer-request.js";
import type { CollectAnswer, CollectRequest } from "../../../../ingest/collect/read-collect-request.js";
import { fakeRegistries, NO_INDEX } from "../../../support/collect/fake-registries.js";
import { directoryOf, packageOf, requestOf } from "./collect-request.js";

const PIXEL = "01990000-0000-7000-8000-0000000000bb";
const OWNER = "01990000-0000-7000-8000-0000000000cc";
const ROUTES = [
  { templatePath: "/{v}/{+file}", outgoingUrl: "https://to.example/{v}/{+file}" },
  { templatePath: "/own", outgoingUrl: "https://to.example/own?a=1&%62=2#part" },
  { templatePath: "/hash", outgoingUrl: "https://to.example/#/{part}" },
  { templatePath: "/up/{v}", outgoingUrl: "https://to.example/a/../{v}" },
  { templatePath: "/often/{v}", outgoingUrl: "https://to.example/{v}/{v}/{v}/{v}" },
  { templatePath: "/once/{v}", outgoingUrl: "https://to.example/{v}" },
  { templatePath: "/empty", outgoingUrl: "https://to.example/empty?" },
  { templatePath: "/asked?os={os}", outgoingUrl: "https://to.example/{os}" },
  { templatePath: "/only/{name}", outgoingUrl: "" },
  { templatePath: "/v/{version}/{platform}", outgoingUrl: "" },
  { templatePath: "/keys/{name}.asc", outgoingUrl: "https://to.example/{name}.asc" },
  { templatePath: "/named/latest", outgoingUrl: "https://to.example/latest" },
];
const IMAGE = packageOf({
  id: "01990000-0000-7000-8000-000000000002",
  name: "image",
  libraryType: "docker",
  domains: [],
  backendUrl: "https://ghcr.io/team/image",
  publicUrl: "https://cr.example/team/image",
  publicHost: "cr.example",
});
const BESIDE = packageOf({
  id: "01990000-0000-7000-8000-000000000003",
  name: "beside",
  domains: ["both.example"],
  routes: [{ templatePath: "/{+file}", outgoingUrl: "https://to.example/{+file}" }],
});
const ON_DOMAIN = packageOf({
  ...IMAGE,
  id: "01990000-0000-7000-8000-000000000004",
  publicUrl: "https://both.example/team/image",
  publicHost: "both.example",
});
const PYTHON = packageOf({
  id: "01990000-0000-7000-8000-000000000005",
  name: "web",
  libraryType: "pypi",
  repositoryUrl: "https://index.example/simple/",
  domains: ["pkgs.example"],
});
const FILES = packageOf({
  id: "01990000-0000-7000-8000-000000000006",
  name: "files",
  domains: ["get.example"],
  routes: [{ templatePath: "/get/{v}", outgoingUrl: "" }],
});
const sites = directoryOf(packageOf({ routes: ROUTES }), IMAGE, BESIDE, ON_DOMAIN, PYTHON, FILES);
sites.putPixel({ id: PIXEL, ownerId: OWNER });

async function ask(target: string, over: Partial<CollectRequest> = {}, publicHost?: string) {
  const imagePulls = fakeRegistries();
  const collecting = { sites, pythonIndex: NO_INDEX, imagePulls, ...(publicHost && { publicHost }) };
  const { kind, answer } = answerRequest(requestOf(target, over), collecting);
  const given = await (typeof answer === "function" ? answer(new AbortController().signal) : answer);
  return { ...given, kind, through: imagePulls.asked.map(({ url }) => url) };
}

const variablesOf = ({ events }: Pick<CollectAnswer, "events">) =>
  events.map(({ variables }) => Object.fromEntries(variables));

describe("a route sends the client on", () => {
  test.each([
    ["with its variables", "/1.2/a/b.tgz", "https://to.example/1.2/a/b.tgz"],
    [
      "with the parameters of the request",
      "/1.2/b?x=1&y=%C3%A9&z",
      "https://to.example/1.2/b?x=1&y=%C3%A9&z",
    ],
    ["with what was escaped still escaped", "/1.2/a%2Fb%20c", "https://to.example/1.2/a%2Fb%20c"],
    [
      "the target's own parameters first and winning",
      "/own?b=9&a=9&c=3",
      "https://to.example/own?a=1&%62=2&c=3#part",
    ],
    ["all of a parameter that comes twice", "/own?c=1&c=2", "https://to.example/own?a=1&%62=2&c=1&c=2#part"],
    ["parameters before a fragment that has a question mark", "/hash?a=1", "https://to.example/?a=1#/"],
    ["without a question mark that stands for nothing", "/empty", "https://to.example/empty?"],
    ["without empty parameters", "/named/latest?&&a=1&", "https://to.example/latest?a=1"],
    [
      "without the parameters that the route asked for",
      "/asked?x=1&os=linux",
      "https://to.example/linux?x=1",
    ],
    [
      "with bytes that are not UTF-8 as they were",
      "/%ff%2Fa/%fe%2541b",
      "https://to.example/%FF%2Fa/%FE%2541b",
    ],
    ["also from one kind of variable to the other", "/once/%ff%25FF", "https://to.example/%FF%25FF"],
    ["never to where the client says", "/..%2f%2fevil/x", "https://to.example/..%2F%2Fevil/x"],
    ["where its owner says, whatever that leads to", "/up/x", "https://to.example/a/../x"],
    ["with dots that lead nowhere", "/1../...?a=/../", "https://to.example/1../...?a=/../"],
  ])("%s", async (_, target, location) => {
    const answer = await ask(target);
    expect(answer).toMatchObject({ kind: "file", status: 307, headers: { Location: location } });
    expect(answer.events).toHaveLength(1);
  });

  test.each([
    [`/often/${"a".repeat(1000)}`, 307],
    [`/often/${"a".repeat(5000)}`, 404],
    [`/once/${"a".repeat(5000)}`, 307],
  ])("and nowhere where its variables have over 16 KiB together: %.10s", async (target, status) => {
    expect((await ask(target)).status).toBe(status);
  });

  test.each(["/../x", "/a/../x", "/%2e%2E/x", "/a/b/.%2e", "/a/%2E./x?y"])(
    "and never out of the folder that it names, as with %s",
    async (target) => {
      expect(await ask(target)).toMatchObject({ status: 404, events: [] });
    },
  );

  test.each([
    ["that it hands on", "/named/latest?utm=x+y&%24time=3", ['{"utm":"x y"}']],
    ["but none of its own path", "/asked?x=1&os=linux", ['{"x":"1"}']],
    ["but none of its target", "/own?b=9&a=9&c=3", ['{"c":"3"}']],
    ["but none that the path has", "/1.2/b?v=3", []],
    ["where there are any", "/1.2/b", []],
  ])("and keeps the parameters %s", async (_, target, sent) => {
    expect((await ask(target)).events).toMatchObject([{ sent }]);
  });

  test("and counts the objects of a body without their keys", async () => {
    const { events } = await ask("/1.2/b", { method: "POST", body: Buffer.from('{"a":1}{"a":2}') });
    expect(events).toMatchObject([{ sent: [] }, { sent: [] }]);
  });

  test.each(["asc", "sha256", "metadata", "sigstore.json", "provenance", "pem"])(
    "without an event for a file that is said about another, .%s, unless the route names it",
    async (ending) => {
      const sent = await ask(`/1.2/tool.tgz.${ending}?x=1`);
      expect(sent).toMatchObject({ status: 307, events: [] });
      expect((await ask("/keys/tool.tgz.asc")).events).toHaveLength(1);
    },
  );

  test("without an event for HEAD", async () => {
    expect(await ask("/1.2/b", { method: "HEAD" })).toMatchObject({ status: 307, events: [] });
  });

  test.each([
    ["bytes=1-", 0],
    ["bytes=-100", 0],
    ["bytes=0010-20", 0],
    ["bytes=0-", 1],
    ["bytes=0-99", 1],
    ["pages=2-", 1],
  ])("and counts a Range only from the beginning: %s", async (range, count) => {
    for (const [target, status] of [
      ["/1.2/b", 307],
      ["/only/x", 200],
    ] as const) {
      const answer = await ask(target, { headers: { range } });
      expect([answer.status, answer.events.length]).toEqual([status, count]);
    }
  });

  test.each(["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])("but not for %s", async (method) => {
    const answer = await ask("/1.2/b", { method });
    expect(answer).toMatchObject({ status: 405, headers: { Allow: "GET, HEAD, POST" }, events: [] });
  });
});

describe("a route that only collects", () => {
  test("has a byte that is not UTF-8 as it was sent in its variables", async () => {
    expect(variablesOf(await ask("/only/%ff%C3%A9"))).toEqual([{ name: "%FFé" }]);
  });

  test("answers 200 with nothing", async () => {
    const answer = await ask("/only/x%20y");
    expect(answer).toMatchObject({ status: 200, kind: "file" });
    expect(answer.body).toBeUndefined();
    expect(variablesOf(answer)).toEqual([{ name: "x y" }]);
  });

  test("keeps the query and the keys of each object, on a line each", async () => {
    const body = Buffer.from('{"a":1,\n"$lib":"x"} {}');
    const { events } = await ask("/only/x?name=y&os=Linux+6%2B1&%24time=3&os=later&flag&=", {
      method: "POST",
      body,
    });
    const query = '{"os":"Linux 6+1","$time":"3","flag":"","":""}';
    expect(events.map(({ sent }) => sent)).toEqual([
      [query, '{"a":1, "$lib":"x"}'],
      [query, "{}"],
    ]);
    expect(variablesOf({ events })).toEqual([{ name: "x" }, { name: "x" }]);
  });

  test("keeps no more of the query than an event may have", async () => {
    const many = Array.from({ length: 100 }, (_, n) => `v${n}=${n}`).join("&");
    const { events } = await ask(`/only/x?${"n".repeat(1025)}=1&long=${"v".repeat(1025)}&${many}`);
    const [query = ""] = events[0]?.sent ?? [];
    expect(Object.keys(JSON.parse(query) as object)).toEqual(Array.from({ length: 64 }, (_, n) => `v${n}`));
  });

  test.each([
    ["none", "", 1],
    ["white space", " \n", 1],
    ["an object", '{"a":1}', 1],
    ["objects", '{"a":1} {"b":"}{"}\n{}', 3],
    ["as many as may be", "{}".repeat(100), 100],
    ["an array", "[{},{}]", 1],
    ["a form", "a=1&b=2", 1],
    ["objects that end too soon", '{"a":1}{"b":', 1],
  ])("counts with a body of %s", async (_, body, count) => {
    const answer = await ask("/only/x", { method: "POST", body: Buffer.from(body) });
    expect(answer.status).toBe(200);
    expect(answer.events).toHaveLength(count);
  });

  test("refuses too many objects, without any event", async () => {
    const long = { method: "POST", body: Buffer.from("{}".repeat(100)) };
    const headers = { "user-agent": "x".repeat(1_300) };
    expect((await ask("/only/x", { ...long, headers })).events).toHaveLength(100);
    expect(await ask(`/only/x?y=${"z".repeat(100)}`, { ...long, headers })).toMatchObject({
      status: 413,
      events: [],
    });
    const body = Buffer.from("{}".repeat(101));
    expect(await ask("/only/x", { method: "POST", body })).toMatchObject({ status: 413, events: [] });
  });
});

describe("a pixel", () => {
  const on = { host: "anywhere.example" };
  test.each([
    ["its id", `/a.png?x-pxid=${PIXEL}`, [undefined]],
    ["its id in capitals", `/a.png?x-pxid=${PIXEL.toUpperCase()}`, [undefined]],
    ["its page", `/a.png?x-pxid=${PIXEL}&page=https%3A%2F%2Fp.example%2F`, ["https://p.example/"]],
    ["an empty page", `/a.png?x-pxid=${PIXEL}&page=`, [undefined]],
    ["another id", "/a.png?x-pxid=12345", []],
    ["no id", "/a.png", []],
  ])("is a picture that nobody keeps, asked for with %s", async (_, target, referrers) => {
    const { kind, status, headers, events } = await ask(target, on);
    expect([kind, status, headers["Content-Type"]]).toEqual(["pixel", 200, "image/png"]);
    expect(headers["Cache-Control"]).toBe("no-cache, no-store, must-revalidate");
    expect(headers["Cross-Origin-Resource-Policy"]).toBe("cross-origin");
    expect(events.map(({ referrer }) => referrer)).toEqual(referrers);
    expect(events.every(({ ownerId }) => ownerId === OWNER)).toBe(true);
  });

  test("answers HEAD without an event, and refuses methods other than GET and HEAD", async () => {
    const target = `/a.png?x-pxid=${PIXEL}`;
    expect(await ask(target, { ...on, method: "HEAD" })).toMatchObject({ status: 200, events: [] });
    expect(await ask(target, { ...on, method: "POST" })).toMatchObject({
      status: 405,
      headers: { Allow: "GET, HEAD" },
    });
  });
});

describe("the host decides", () => {
  test.each([
    ["a package's domain has no pixels", "/a.png", "files.example", undefined, 404],
    ["any other host has", "/a.png", "", undefined, 200],
    ["the public host has", "/a.png", "pixels.example", "pixels.example", 200],
    ["another host has none then", "/a.png", "other.example", "pixels.example", 404],
    ["no package takes the public host", "/own", "files.example", "files.example", 404],
    ["not even its pixels", "/a.png", "files.example", "files.example", 200],
    ["a path of nobody is nothing", "/own", "other.example", undefined, 404],
    ["a host of images has them", "/v2/team/image/tags/list", "cr.example", undefined, 307],
    ["and pixels, too", "/a.png", "cr.example", undefined, 200],
    ["and nothing else", "/own", "cr.example", undefined, 404],
    ["but no pixels where they have a host", "/a.png", "cr.example", "pixels.example", 404],
    ["a host of images has them then, too", "/v2/", "cr.example", "pixels.example", 307],
    ["no image takes the public host", "/v2/", "cr.example", "cr.example", 404],
  ])("%s", async (_, target, host, publicHost, status) => {
    const headers = { "user-agent": "docker/27.3.1" };
    expect((await ask(target, { host, headers }, publicHost)).status).toBe(status);
  });

  test.each([
    ["/v2/team/image/manifests/1", "https://ghcr.io/v2/team/image/manifests/1"],
    ["/v2/", "https://ghcr.io/v2/"],
    ["/v2/team/other/manifests/1", undefined],
    ["/v2/2.0/tool.tgz", undefined],
  ])("of an image that is also the domain of a package has %s at %s", async (target, registry) => {
    const crane = { "user-agent": "crane/0.20.2 go-containerregistry/0.20.2" };
    const { kind, through, headers } = await ask(target, { host: "both.example", headers: crane });
    expect(through).toEqual(registry === undefined ? [] : [registry]);
    expect(kind).toBe(registry === undefined ? "file" : "docker");
    if (registry === undefined) expect(headers).toEqual({ Location: `https://to.example${target}` });
  });

  test("the owner of npm reports, also on a docker host without a public host", async () => {
    const report = { method: "POST", host: "cr.example", body: Buffer.from("{}") };
    expect((await ask("/package-event/install", report)).kind).toBe("npm");
    expect((await ask("/package-event/install", report, "pixels.example")).status).toBe(404);
  });

  test.each(["get.example", "pkgs.example"])(
    "and a package's, %s, answers as a registry without it what is no file of the package",
    async (host) => {
      for (const target of ["/v2/", "/v2/other/manifests/1"]) {
        const answer = await ask(target, { host });
        expect(answer).toMatchObject({ status: 404, events: [] });
        expect(JSON.parse(answer.body as string)).toMatchObject({ errors: [{ code: "NAME_UNKNOWN" }] });
      }
      expect(await ask("/other", { host })).toEqual({
        kind: host === "get.example" ? "file" : "python",
        status: 404,
        headers: {},
        events: [],
        through: [],
      });
    },
  );

  test.each([
    ["/v2", undefined],
    ["/v2/", undefined],
    ["/v2/team/image/manifests/1", undefined],
    ["/v2/team/image/manifests/1", "pixels.example"],
    ["/v2/team/image/manifests/1", "other.example"],
  ])("and one that is nobody's answers %s as a registry without it", async (target, publicHost) => {
    const answer = await ask(target, { host: "other.example" }, publicHost);
    expect(answer).toMatchObject({ kind: "none", status: 404, events: [] });
    expect(JSON.parse(answer.body as string)).toMatchObject({ errors: [{ code: "NAME_UNKNOWN" }] });
  });
});
