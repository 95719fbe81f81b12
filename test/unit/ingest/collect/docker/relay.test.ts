import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, test } from "vitest";
import { answerDocker } from "../../../../../ingest/collect/docker/answer-docker.js";
import { TooManyRequests } from "../../../../../ingest/collect/docker/registry-client.js";
import type { CollectRequest } from "../../../../../ingest/collect/read-collect-request.js";
import type { DockerImage } from "../../../../../ingest/collect/sites.js";
import {
  collectRequest,
  fakeRegistries,
  type RegistryReply,
} from "../../../../support/collect/fake-registries.js";

const DIGEST = `sha256:${"0".repeat(64)}`;
const IMAGE: DockerImage = {
  packageId: "package",
  ownerId: "owner",
  backend: "https://ghcr.io",
  backendPath: "acme/web",
};
const SITE = { kind: "docker", images: new Map([["web", IMAGE]]), first: IMAGE } as const;
const CRANE = { "user-agent": "crane/0.20.2 go-containerregistry/0.20.2" };

async function ask(
  target: string,
  { reply, ...more }: { reply?: () => RegistryReply | Error } & Partial<CollectRequest> = {},
) {
  const registries = fakeRegistries(reply);
  const answer = answerDocker(collectRequest(target, { headers: CRANE, ...more }), SITE, registries);
  if (typeof answer !== "function") return { ...answer, registries };
  return { ...(await answer(new AbortController().signal)), registries };
}

describe("a client is answered through us", () => {
  test.each([
    ["crane/0.20.2 go-containerregistry/0.20.2", true],
    ["skopeo/1.17.0", true],
    ["Buildah/1.38.0", true],
    ["containers/5.33.0 (github.com/containers/image)", true],
    ["cri-o/1.31.0 go/go1.22 os/linux arch/amd64", true],
    ["kaniko/v1.23.2", true],
    ["buildkit/v0.18.1", true],
    ["Go-http-client/2.0", true],
    ["Mozilla/5.0 docker/27", true],
    ["docker/27.3.1 go/go1.22.7 os/linux arch/amd64 UpstreamClient(Docker-Client/27.3.1)", false],
    ["containerd/v2.0.0", false],
    ["", true],
  ])("named %s: %s", async (agent, through) => {
    const headers = agent === "" ? {} : { "user-agent": agent };
    for (const method of ["GET", "HEAD"]) {
      const { registries } = await ask("/v2/web/manifests/1.4", { method, headers });
      expect(registries.asked).toHaveLength(through ? 1 : 0);
    }
  });

  it("whatever its name, when it sends credentials", async () => {
    const headers = { "user-agent": "docker/27.3.1", authorization: "Basic dTpw" };
    const { registries } = await ask("/v2/web/manifests/1.4?ns=docker.io", { headers });
    expect(registries.asked).toMatchObject([
      { method: "GET", url: "https://ghcr.io/v2/acme/web/manifests/1.4?ns=docker.io", headers },
    ]);
  });
});

describe("a request that is passed on", () => {
  it("keeps all headers but those of the connection, the host and the proxies", async () => {
    const passed = {
      ...CRANE,
      authorization: "Bearer t",
      accept: "application/vnd.oci.image.index.v1+json, */*",
      range: "bytes=5-",
      "if-none-match": '"a"',
    };
    const kept = {
      connection: "close, X-Own",
      "x-own": "1",
      "keep-alive": "1",
      te: "trailers",
      upgrade: "h2c",
    };
    const hidden = { host: "cr.example", cookie: "a=1", "x-forwarded-for": "192.0.2.1", forwarded: "for=a" };
    const { registries } = await ask("/v2/", { headers: { ...passed, ...kept, ...hidden } });
    expect(registries.asked).toMatchObject([{ method: "GET", url: "https://ghcr.io/v2/" }]);
    expect(registries.asked[0]?.headers).toEqual({ ...passed, via: "1.1 collector" });
  });

  it("counts among those of its client", async () => {
    const { registries } = await ask("/v2/", { address: "192.0.2.7" });
    expect(registries.asked).toMatchObject([{ client: "192.0.2.7" }]);
  });

  it("is refused when the registry leads back here", async () => {
    const headers = { ...CRANE, via: "1.1 proxy, 1.1 collector, 1.1 other" };
    const { status, registries } = await ask("/v2/web/manifests/1.4", { headers });
    expect([status, registries.asked]).toEqual([502, []]);
  });
});

describe("the answer of a registry", () => {
  test.each([200, 206, 302, 307, 401, 404, 416, 429, 500])(
    "is passed on with its status %d",
    async (status) => {
      const reply = () => ({ status, headers: { "content-type": "text/plain" }, body: "said" });
      const answer = await ask(`/v2/web/blobs/${DIGEST}`, { reply });
      expect(answer).toMatchObject({ status, headers: { "content-type": ["text/plain"] }, events: [] });
      expect(await text(answer.body as Readable)).toBe("said");
    },
  );

  it("keeps all headers but those of the connection and its own host", async () => {
    const challenge =
      'Bearer realm="https://ghcr.io/token",service="ghcr.io",scope="repository:acme/web:pull"';
    const kept = { "www-authenticate": challenge, "docker-content-digest": DIGEST, "content-length": "0" };
    const dropped = {
      connection: "keep-alive, x-own",
      "x-own": "1",
      "transfer-encoding": "chunked",
      "set-cookie": ["a=1"],
      "alt-svc": "h3",
      "strict-transport-security": "max-age=1",
    };
    const { headers } = await ask("/v2/", {
      reply: () => ({ status: 401, headers: { ...kept, ...dropped } }),
    });
    expect(headers).toEqual(Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, [value]])));
  });

  test.each([
    ["https://cdn.example/blob?sig=%2F", "https://cdn.example/blob?sig=%2F"],
    ["/artifacts/blob", "https://ghcr.io/artifacts/blob"],
    ["//cdn.example/blob", "https://cdn.example/blob"],
  ])("leads on to %s, for the client", async (location, expected) => {
    const reply = () => ({ status: 307, headers: { location } });
    const { headers } = await ask(`/v2/web/blobs/${DIGEST}`, { reply });
    expect(headers).toEqual({ location: [expected] });
  });

  test.each([
    ['</v2/acme/web/tags/list?last=1.4&n=2>; rel="next"', '</v2/web/tags/list?last=1.4&n=2>; rel="next"'],
    ['<https://ghcr.io/v2/acme/web/tags/list?n=2>; rel="next"', '</v2/web/tags/list?n=2>; rel="next"'],
    ['</v2/acme/website/tags/list>; rel="next"', '</v2/acme/website/tags/list>; rel="next"'],
    ['<https://docs.example/>; rel="help"', '<https://docs.example/>; rel="help"'],
  ])("has the link %s, for the client", async (link, expected) => {
    const { headers } = await ask("/v2/web/tags/list?n=2", { reply: () => ({ headers: { link } }) });
    expect(headers).toEqual({ link: [expected] });
  });

  test.each([
    [new Error("ECONNREFUSED"), 502, "UNAVAILABLE", 1],
    [new TooManyRequests(), 429, "TOOMANYREQUESTS", 0],
  ])("that cannot be had (%s) is %d %s", async (error, status, code, failures) => {
    const { registries, body, ...answer } = await ask("/v2/web/manifests/1.4", { reply: () => error });
    expect(answer).toMatchObject({ status, headers: { "Retry-After": "5" }, events: [] });
    expect(JSON.parse(body as string)).toMatchObject({ errors: [{ code }] });
    expect(registries.failures).toHaveLength(failures);
  });
});

describe("a manifest through us", () => {
  const event = { ownerId: "owner", artifact: { kind: "package", id: "package" }, version: "1.4" };
  test.each([
    [200, 1],
    [307, 1],
    [304, 0],
    [401, 0],
    [404, 0],
    [429, 0],
    [503, 0],
  ])("that is answered with %d counts %d times", async (status, count) => {
    const { events } = await ask("/v2/web/manifests/1.4", { reply: () => ({ status }) });
    expect(events).toMatchObject(Array(count).fill(event));
    expect(events).toHaveLength(count);
  });

  it("opens no pull with a HEAD that is refused", async () => {
    const registries = fakeRegistries(() => ({ status: registries.asked.length === 1 ? 401 : 200 }));
    const pullOf = async (method: string, reference: string) => {
      const request = collectRequest(`/v2/web/manifests/${reference}`, { method, headers: CRANE });
      const answer = answerDocker(request, SITE, registries);
      if (typeof answer !== "function") throw new Error("not through us");
      return (await answer(new AbortController().signal)).events;
    };
    expect(await pullOf("HEAD", "1.4")).toEqual([]);
    expect(await pullOf("GET", DIGEST)).toMatchObject([{ version: undefined }]);
  });
});
