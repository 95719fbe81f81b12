import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { answerDocker as answer } from "../../../../../ingest/collect/docker/answer-docker.js";
import type { DockerImage, DockerSite } from "../../../../../ingest/collect/sites.js";
import type { CollectAnswer, CollectRequest } from "../../../../../ingest/collect/read-collect-request.js";
import { collectRequest, fakeRegistries } from "../../../../support/collect/fake-registries.js";

const DIGEST = "sha256:2f1f0a6b6f9c1f8a2c7b2a3b7d6e1b9f0f4f3e2d1c0b9a8978695a4b3c2d1e0f";

const SITE = siteOf({
  "library/proxy": "https://ghcr.io",
  web: "http://registry.example:5000",
  "a/manifests/b": "https://quay.io",
  "library/hello": "https://docker.io",
});

function siteOf(backends: Record<string, string>): DockerSite {
  const images = Object.entries(backends).map(([name, backend]): [string, DockerImage] => [
    name,
    { packageId: `package of ${name}`, ownerId: "owner", backend, backendPath: name },
  ]);
  return { kind: "docker", images: new Map(images), first: images[0]?.[1] };
}

/** The answer to a client that follows redirects with its credentials. */
function answerDocker(request: CollectRequest, site: DockerSite): CollectAnswer {
  const sent = { ...request, headers: { "user-agent": "docker/27.3.1", ...request.headers } };
  const answered = answer(sent, site, fakeRegistries());
  if (typeof answered === "function") throw new Error("this is answered through us");
  return answered;
}

describe("a request for something of an image", () => {
  test.each([
    ["/v2/library/proxy/manifests/latest", "https://ghcr.io/v2/library/proxy/manifests/latest"],
    [`/v2/web/manifests/${DIGEST}`, `http://registry.example:5000/v2/web/manifests/${DIGEST}`],
    [`/v2/web/blobs/${DIGEST}`, `http://registry.example:5000/v2/web/blobs/${DIGEST}`],
    ["/v2/web/blobs/sha256%3Aabc", "http://registry.example:5000/v2/web/blobs/sha256:abc"],
    ["/v2/web/tags/list?n=10&last=1.0", "http://registry.example:5000/v2/web/tags/list?n=10&last=1.0"],
    [`/v2/web/referrers/${DIGEST}`, `http://registry.example:5000/v2/web/referrers/${DIGEST}`],
    ["/v2/a/manifests/b/manifests/1.0", "https://quay.io/v2/a/manifests/b/manifests/1.0"],
    ["/v2/library%2Fproxy/manifests/1", "https://ghcr.io/v2/library/proxy/manifests/1"],
    ["/v2/library/hello/manifests/1", "https://registry-1.docker.io/v2/library/hello/manifests/1"],
    ["/v2/web/tags/list?last=\u00e9 \r", "http://registry.example:5000/v2/web/tags/list?last=%E9%20%0D"],
  ])("%s is redirected to %s", (target, location) => {
    const answer = answerDocker(collectRequest(target), SITE);
    expect(answer).toMatchObject({
      status: 307,
      headers: { Location: location, "Docker-Distribution-Api-Version": "registry/2.0" },
    });
    expect(answer.body).toBeUndefined();
  });
});

describe("the pull that a request counts as", () => {
  const pull = {
    ownerId: "owner",
    artifact: { kind: "package", id: "package of web" },
    variables: new Map(),
  };

  test.each([
    ["GET", "/v2/web/manifests/1.4.0", [{ ...pull, version: "1.4.0" }]],
    ["GET", `/v2/web/manifests/${DIGEST}`, [pull]],
    ["HEAD", "/v2/web/manifests/1.4.0", []],
    ["GET", `/v2/web/blobs/${DIGEST}`, []],
    ["HEAD", `/v2/web/blobs/${DIGEST}`, []],
    ["GET", "/v2/web/tags/list", []],
    ["GET", `/v2/web/referrers/${DIGEST}`, []],
    ["GET", "/v2/", []],
  ])("of %s %s is as the contract says", (method, target, events) => {
    expect(answerDocker(collectRequest(target, { method }), SITE).events).toEqual(events);
  });
});

describe("the root of the registry", () => {
  test.each(["/v2/", "/v2"])("%s is that of the first image, which can say how to log in", (target) => {
    const { status, headers } = answerDocker(collectRequest(target), SITE);
    expect([status, headers.Location]).toEqual([307, `https://ghcr.io${target}`]);
  });
});

describe("a path that belongs to no image", () => {
  test.each([
    "/v2/_catalog",
    "/v2/unknown/manifests/latest",
    "/v2/Web/manifests/latest",
    "/v2/web/manifests/",
    "/v2/web/manifests/..",
    "/v2/web/manifests/-x",
    `/v2/web/manifests/${"x".repeat(129)}`,
    "/v2/web/manifests/a%2Fb",
    "/v2/web/manifests/%zz",
    "/v2/web/blobs/latest",
    "/v2/web/tags/other",
    "/v2/web/toString/latest",
    "/v2/web",
    "/v2//manifests/latest",
  ])("%s is answered as the OCI specification has it", (target) => {
    const answer = answerDocker(collectRequest(target), SITE);
    expect(answer).toMatchObject({
      status: 404,
      headers: { "Content-Type": "application/json" },
      events: [],
    });
    expect(JSON.parse(String(answer.body))).toMatchObject({ errors: [{ code: "NAME_UNKNOWN" }] });
  });

  test.each(["/", "/v1/_ping", "/v2x/web/manifests/1"])("%s is an empty 404", (target) => {
    expect(answerDocker(collectRequest(target), SITE)).toEqual({ status: 404, headers: {}, events: [] });
  });

  it("is any path, and none of them throws", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("web", "manifests", "blobs", "%2", "..", "", "latest", "é")),
        (parts) => {
          const { status } = answerDocker(collectRequest(`/v2/${parts.join("/")}`), SITE);
          expect([307, 404]).toContain(status);
        },
      ),
    );
  });
});

test.each(["POST", "PUT", "PATCH", "DELETE"])(
  "%s is refused: nothing is pushed through this host",
  (method) => {
    const answer = answerDocker(collectRequest("/v2/web/blobs/uploads/", { method }), SITE);
    expect(answer).toMatchObject({ status: 405, headers: { Allow: "GET, HEAD" }, events: [] });
    expect(JSON.parse(String(answer.body))).toMatchObject({ errors: [{ code: "UNSUPPORTED" }] });
  },
);
