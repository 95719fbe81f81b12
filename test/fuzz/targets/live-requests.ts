import assert from "node:assert/strict";
import { Agent } from "node:http";
import { gzipSync } from "node:zlib";
import { pause } from "../../../schemas/async/pause.js";
import fc from "fast-check";
import { callCollect, type CollectCall } from "../../support/collect/collect-client.js";
import { makePackage, makePixel } from "../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { assertExportsAgree } from "../attempt-import.js";
import type { FuzzTarget, FuzzOwner } from "../fuzz-world.js";
import {
  hostileText,
  percentEncoded,
  sometimesDamaged,
  addressText,
  timeValue,
  userAgent,
} from "../values.js";

/** Downloads, views and reports, right and wrong: none is a 5xx, and what is counted is exported. */
export const liveRequests: FuzzTarget<CollectCall> = {
  name: "live-requests",
  runs: 400,
  async open({ program, sent }, owner) {
    const { hosts, artifacts, pixel } = await makeSites(owner);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return {
      inputs: calls(Object.values(hosts), pixel),
      async attempt(call) {
        sent.requests += 1;
        const { status, body } = await callCollect(program.endpoints.collect, { ...call, agent });
        // Their registry and index do not exist.
        const isUpstreams = status === 502 && [hosts.images, hosts.python].includes(call.host ?? "");
        assert.ok(status < 500 || isUpstreams, `answered ${status} ${body.toString()}`);
      },
      async close() {
        agent.destroy();
        await whenQuiet(owner);
        await assertExportsAgree(owner, artifacts);
      },
    };
  },
};

async function makeSites({ api, name: organization }: FuzzOwner) {
  const hosts = {
    files: `get.${organization}.invalid`,
    images: `cr.${organization}.invalid`,
    python: `pip.${organization}.invalid`,
    other: `any.${organization}.invalid`,
  };
  const files = await makePackage(api, { organization, name: "files", libraryType: "other" });
  const npm = await makePackage(api, { organization, name: `@${organization}/web`, libraryType: "npm" });
  const pixel = await makePixel(api, { owner: organization, name: "docs" });
  for (const route of ROUTES) await api.post(`/v1/packages/${files.id}/routes`, route);
  await api.post(`/v1/packages/${files.id}/domains`, { name: hosts.files });
  const make = (body: object) =>
    api.post<{ uuid: string }>(`/v1/organizations/${organization}/packages`, {
      shortDescription: "",
      ...body,
    });
  const url = `https://${hosts.images}/acme/web`;
  await make({
    name: url,
    libraryType: "docker",
    publicUrl: url,
    backendUrl: "https://registry.invalid/acme/web",
  });
  const python = await make({
    name: "acme",
    libraryType: "pypi",
    repositoryURL: "https://index.invalid/simple/",
  });
  await api.post(`/v1/packages/${python.uuid}/domains`, { name: hosts.python });
  return { hosts, artifacts: [files, npm, pixel] satisfies KnownArtifact[], pixel: pixel.id };
}

const ROUTES = [
  {
    templatePath: "/get/{version}/{platform}/{+file}?os={os}",
    outgoingUrl: "https://files.invalid/{version}/{+file}?v={os}",
  },
  { templatePath: "/tool-{version}.tgz", outgoingUrl: "https://files.invalid/{version}" },
  { templatePath: "/collect/{+path}", outgoingUrl: "" },
];

/** What may stand in a request's target and in a header's value; other characters cannot be sent. */
const targetText = hostileText.map((text) => text.replaceAll(/[^\u0021-\u00ff]/g, percentEncoded));
const headerText = (text: fc.Arbitrary<string>) =>
  text.map((value) => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?"));

function calls(hosts: readonly string[], pixel: string): fc.Arbitrary<CollectCall> {
  const start = fc.constantFrom(
    ...[
      "/get/1.0/linux/a.tgz",
      "/tool-2.1.tgz",
      "/collect/x",
      "/simple/acme/",
      "/simple/acme/acme-1.0.tar.gz",
      "/simple/",
    ],
    ...["/v2/", "/v2/acme/web/manifests/latest", "/v2/acme/web/blobs/sha256:00", "/v2/acme/web/tags/list"],
    ...[
      "/a.png",
      `/a.png?x-pxid=${pixel}`,
      "/package-event/install",
      "/",
      "*",
      "http://other.invalid/get/1/2/3",
    ],
  );
  const pairs = fc
    .array(fc.tuple(targetText, targetText), { maxLength: 4 })
    .map((some) => some.map((pair) => pair.join("=")).join("&"));
  const path = fc
    .tuple(sometimesDamaged(start), fc.oneof(fc.constant(""), targetText), pairs)
    .map(([begin, rest, query]) => `${begin}${rest}${query === "" ? "" : `?${query}`}`)
    .map((text) => text.replaceAll(/[^\u0021-\u00ff]/g, "_"));
  const headers = fc.record(
    {
      "User-Agent": headerText(userAgent),
      Referer: headerText(hostileText),
      "X-Forwarded-For": headerText(fc.array(addressText, { maxLength: 3 }).map((some) => some.join(", "))),
      Accept: headerText(hostileText),
      "If-None-Match": headerText(hostileText),
      Range: headerText(hostileText),
      Authorization: headerText(hostileText),
      DNT: fc.constantFrom("0", "1"),
      "Sec-GPC": fc.constantFrom("0", "1"),
    },
    { requiredKeys: [] },
  );
  const anyCall = fc.record({
    host: sometimesHostile(fc.constantFrom(...hosts)),
    method: fc.constantFrom("GET", "GET", "GET", "HEAD", "OPTIONS", "PUT", "DELETE"),
    path,
    headers,
  });
  const posted = fc.tuple(anyCall, eventBody, fc.boolean()).map(([call, text, isPacked]) => ({
    ...call,
    method: "POST",
    headers: { ...call.headers, ...(isPacked && { "Content-Encoding": "gzip" }) },
    body: isPacked ? gzipSync(text) : Buffer.from(text),
  }));
  return fc.oneof({ weight: 3, arbitrary: anyCall }, { weight: 1, arbitrary: posted });
}

function sometimesHostile(host: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 12, arbitrary: host }, { weight: 1, arbitrary: headerText(hostileText) });
}

const reported = fc.record({ name: hostileText, version: hostileText });
const eventObject = fc.oneof(
  fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
  fc.record({ $time: timeValue, $version: hostileText, $remote_address: addressText, channel: hostileText }),
  fc.record({
    dependencyInfo: fc.record({ parent: reported }),
    rawPlatform: hostileText,
    nodeVersion: hostileText,
  }),
);
const eventBody = sometimesDamaged(
  fc.array(eventObject, { maxLength: 5 }).map((some) => some.map((each) => JSON.stringify(each)).join("")),
);

const QUIET_MS = 1_500;

/** The events of live requests are enriched a moment later. */
async function whenQuiet({ api, name }: FuzzOwner): Promise<void> {
  const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const read = async () =>
    JSON.stringify(await api.readAggregates(name, { startDate: dayAfter(-1), endDate: dayAfter(2) }));
  for (let [before, now] = ["", await read()]; before !== now; [before, now] = [now, await read()])
    await pause(QUIET_MS);
}
