import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { createPullCounter, type ImageRequest } from "../../../../../ingest/collect/docker/count-pulls.js";
import { PullingClient } from "../../../../../ingest/collect/docker/pulling-client.js";

const CLIENT = ["192.0.2.1", "docker/27.3.1", "package"];
/** Sends HEAD and GET again after logging in. */
const REPEATS = ["192.0.2.1", "containerd/v2.0.0", "package"];
/** Made-up digests: the index of an image, its manifests for platforms, and another image. */
const DIGESTS = ["index", "amd64", "arm64", "moved", "moved-amd64", "signature", "sbom"];

function digestOf(name: string): string {
  return `sha256:${name.padEnd(64, "0")}`;
}

function wantedOf(name: string): ImageRequest["wanted"] {
  const [, subject] = /^referrers-of-(.+)$/.exec(name) ?? [];
  if (subject !== undefined) return { kind: "referrers", reference: digestOf(subject) };
  return { kind: "manifests", reference: DIGESTS.includes(name) ? digestOf(name) : name };
}

interface Sender {
  send: (request: string, client?: readonly string[]) => string[];
  sendAll: (requests: string, client?: readonly string[]) => string[];
  pass: (ms: number) => void;
}

/** Requests are words: `HEAD:1.4` and `GET:index`. Their answers are the versions of the pulls, `-` for none. */
function sender(): Sender {
  let time = 0;
  const counter = createPullCounter({ now: () => time });
  const send = (request: string, client: readonly string[] = CLIENT) => {
    const [method = "", name = ""] = request.split(":");
    const mayRepeat = client.includes("containerd/v2.0.0");
    const pull = counter.pullOf({
      client,
      mayRepeat,
      method: method as "GET" | "HEAD",
      wanted: wantedOf(name),
    });
    return pull === undefined ? [] : [pull.version ?? "-"];
  };
  return {
    send,
    sendAll: (requests, client) => requests.split(" ").flatMap((request) => send(request, client)),
    pass: (ms) => void (time += ms),
  };
}

/** Requests of one pull each; a tag is its version, a digest has none. */
const PULLS = {
  "of a tag": "GET:1.4",
  "of a tag, with the manifest of the platform": "GET:1.4 GET:amd64",
  "that resolves the tag first": "HEAD:1.4 GET:index",
  "that resolves the tag first, with the platform's": "HEAD:1.4 GET:index GET:amd64",
  "that resolves it again after logging in": "HEAD:1.4 HEAD:1.4 GET:index GET:amd64",
  "that resolves and then asks by tag": "HEAD:1.4 HEAD:1.4 GET:1.4 GET:index GET:amd64",
  "by digest": "GET:index",
  "by digest, with the platform's": "HEAD:index GET:index GET:amd64",
  "that asks for the index again": "HEAD:1.4 GET:index GET:amd64 GET:index",
  "of all platforms": "HEAD:1.4 GET:index GET:amd64 GET:arm64",
};
const REPEATED_PULLS = {
  "of a tag for several platforms": "HEAD:1.4 HEAD:1.4 GET:index GET:index GET:amd64",
  "of a tag for one platform": "HEAD:1.4 HEAD:1.4 GET:amd64 GET:amd64",
  "of a digest for several platforms": "HEAD:index HEAD:index GET:index GET:index GET:amd64",
  "of a digest for one platform": "HEAD:amd64 HEAD:amd64 GET:amd64 GET:amd64",
  "of a tag, without logging in": "HEAD:1.4 GET:index GET:amd64",
};
const pullOf = (requests: string) => (requests.includes(":1.4") ? "1.4" : "-");

test.each(Object.entries(PULLS))("one pull %s is counted once", (_, requests) => {
  expect(sender().sendAll(requests)).toEqual([pullOf(requests)]);
});

test.each(Object.entries(REPEATED_PULLS))(
  "one pull %s, of a client that repeats its requests after logging in, is counted once",
  (_, requests) => {
    const pull = pullOf(requests);
    expect(sender().sendAll(requests, REPEATS)).toEqual([pull]);
    expect(sender().sendAll(`${requests} ${requests} ${requests}`, REPEATS)).toEqual([pull, pull, pull]);
  },
);

const SIGNED = `sha256-${"5".repeat(64)}`;

describe("what looks at an image and does not pull it", () => {
  test.each([
    ["cosign verify", `HEAD:1.4 GET:${SIGNED}.sig GET:${SIGNED}.att GET:${SIGNED}.sbom`, []],
    ["cosign verify of an image that it reads", `GET:1.4 GET:${SIGNED}.sig`, ["1.4"]],
    ["cosign with bundles", "HEAD:1.4 GET:referrers-of-index GET:signature", []],
    ["notation verify", "HEAD:1.4 GET:referrers-of-index GET:signature GET:signature GET:sbom", []],
    ["notation verify without a referrers API", `HEAD:1.4 GET:${SIGNED} GET:signature`, []],
    ["oras discover", "HEAD:1.4 GET:referrers-of-index GET:referrers-of-amd64", []],
    ["renovate, diun, watchtower", "HEAD:1.4 HEAD:1.5 HEAD:latest HEAD:1.4", []],
    ["CRI-O with a signature policy", `GET:1.4 GET:amd64 GET:${SIGNED}.sig`, ["1.4"]],
    [
      "a pull after the look at its signatures",
      "HEAD:1.4 GET:referrers-of-index GET:index GET:amd64",
      ["1.4"],
    ],
    [
      "a pull of another tag after them",
      "HEAD:1.4 GET:referrers-of-index GET:sbom HEAD:1.5 GET:moved",
      ["1.5"],
    ],
    ["a pull of a tag after signatures", "HEAD:1.4 GET:referrers-of-index GET:signature GET:1.5", ["1.5"]],
  ])("%s", (_, requests, pulls) => {
    expect(sender().sendAll(requests)).toEqual(pulls);
  });

  it("is a signature for two minutes after a request for referrers", () => {
    const { send, pass } = sender();
    send("GET:referrers-of-index");
    pass(120_000);
    expect(send("GET:signature")).toEqual(["-"]);
  });
});

/** `5s` lets five seconds pass. */
describe("a tag that was only looked at", () => {
  const run = (steps: string, client: readonly string[]) => {
    const { send, pass } = sender();
    return steps.split(" ").flatMap((step) => {
      const [, seconds] = /^(\d+)s$/.exec(step) ?? [];
      if (seconds === undefined) return send(step, client);
      pass(Number(seconds) * 1000);
      return [];
    });
  };

  const PULL = "HEAD:1.4 GET:index GET:amd64";
  test.each([
    ["before the pull of another", "HEAD:1.3 30s HEAD:1.4 GET:index GET:amd64", ["1.4"]],
    ["before it, with three manifests", "HEAD:1.3 30s HEAD:1.4 GET:index GET:amd64 GET:arm64", ["1.4"]],
    ["with two others", "HEAD:1.2 1s HEAD:1.3 1s HEAD:1.4 GET:index GET:amd64", ["1.4"]],
    ["before a pull by tag", "HEAD:1.3 30s GET:1.4 GET:amd64", ["1.4"]],
    [
      "before a pull of one platform",
      "HEAD:1.3 30s HEAD:1.4 GET:amd64 5s HEAD:1.5 GET:moved",
      ["1.4", "1.5"],
    ],
    ["before a pull by digest", "HEAD:1.3 30s HEAD:index GET:index GET:amd64", ["-"]],
    ["after its pull", `${PULL} 30s HEAD:1.4 30s HEAD:1.5 GET:moved GET:moved-amd64`, ["1.4", "1.5"]],
    ["of the same digest", `${PULL} 30s HEAD:1.4 30s HEAD:edge GET:index GET:amd64`, ["1.4", "edge"]],
    ["before its own pull", `HEAD:1.4 30s ${PULL} 5s HEAD:1.4 GET:index GET:arm64`, ["1.4", "1.4"]],
    [
      "within the pull of another that is known",
      `${PULL} HEAD:1.5 GET:moved HEAD:1.5 HEAD:1.4 GET:moved`,
      ["1.4", "1.5", "1.5"],
    ],
    [
      "after which a digest is pulled within a pull",
      `${PULL} 9s HEAD:1.3 HEAD:moved GET:moved GET:sbom`,
      ["1.4"],
    ],
  ])("is no pull %s", (_, steps, pulls) => {
    expect(run(steps, CLIENT)).toEqual(pulls);
    expect(run(steps, REPEATS)).toEqual(pulls);
  });
});

test("HEAD alone is no pull", () => {
  expect(sender().sendAll("HEAD:1.4 HEAD:index HEAD:1.5")).toEqual([]);
});

describe("pulls one after another", () => {
  const PULL = "HEAD:1.4 HEAD:1.4 GET:index GET:amd64";
  test.each([
    ["of one tag", "HEAD:1.4 GET:index GET:amd64 HEAD:1.4 GET:index GET:amd64", ["1.4", "1.4"]],
    ["of one tag, with logging in", `${PULL} ${PULL} ${PULL}`, ["1.4", "1.4", "1.4"]],
    ["by tag", "GET:1.4 GET:amd64 GET:1.4 GET:amd64", ["1.4", "1.4"]],
    ["by digest", "GET:index GET:amd64 GET:index GET:amd64", ["-", "-"]],
    ["of two tags", `${PULL} HEAD:1.5 HEAD:1.5 GET:moved GET:moved-amd64`, ["1.4", "1.5"]],
    ["of two tags with one digest", `${PULL} HEAD:edge HEAD:edge GET:index GET:amd64`, ["1.4", "edge"]],
    ["of a tag that was moved", `${PULL} HEAD:1.4 HEAD:1.4 GET:moved GET:moved-amd64`, ["1.4", "1.4"]],
    ["by digest and then by tag", `GET:index GET:amd64 ${PULL}`, ["-", "1.4"]],
    ["by a client that asks both ways", "GET:1.4 HEAD:1.4 GET:index", ["1.4", "1.4"]],
  ])("%s", (_, requests, pulls) => {
    expect(sender().sendAll(requests)).toEqual(pulls);
  });
});

describe("machines that look like one client", () => {
  /** The steps of each machine in their order, and those of all machines in any. */
  function shuffled(pulls: readonly string[][], seed: number): string[] {
    let state = seed;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    const left = pulls.map((steps) => [...steps]);
    const order: string[] = [];
    for (let rest = left; rest.length > 0; rest = left.filter((steps) => steps.length > 0)) {
      const step = rest[Math.floor(random() * rest.length)]?.shift();
      if (step !== undefined) order.push(step);
    }
    return order;
  }

  const MACHINES = 40;
  const platform = (machine: number) => `GET:${machine % 4 === 0 ? "arm64" : "amd64"}`;
  test.each<[string, readonly string[], (machine: number) => string[]]>([
    ["dockerd", CLIENT, (machine) => ["HEAD:1.4", "GET:index", platform(machine)]],
    ["dockerd for one platform", CLIENT, () => ["HEAD:1.4", "GET:amd64"]],
    ["dockerd on containerd", CLIENT, (machine) => ["HEAD:1.4", "HEAD:1.4", "GET:index", platform(machine)]],
    [
      "containerd, logging in",
      REPEATS,
      (machine) => ["HEAD:1.4", "HEAD:1.4", "GET:index", "GET:index", platform(machine)],
    ],
    ["containerd for one platform", REPEATS, () => ["HEAD:1.4", "HEAD:1.4", "GET:amd64", "GET:amd64"]],
    ["containerd, without logging in", REPEATS, () => ["HEAD:1.4", "GET:index", "GET:amd64"]],
    ["crane", CLIENT, (machine) => ["GET:1.4", platform(machine)]],
  ])("are counted each, whatever the order in which they pull as %s does", (_, client, stepsOf) => {
    for (let seed = 1; seed <= 50; seed++) {
      const { send } = sender();
      const steps = shuffled(
        Array.from({ length: MACHINES }, (_, machine) => stepsOf(machine)),
        seed,
      );
      expect(steps.flatMap((step) => send(step, client))).toEqual(Array(MACHINES).fill("1.4"));
    }
  });

  it("are counted each when they pull by digest", () => {
    const { send } = sender();
    const steps = Array.from({ length: MACHINES }, (_, machine) => ["GET:index", platform(machine)]);
    expect(shuffled(steps, 7).flatMap((step) => send(step))).toEqual(Array(MACHINES).fill("-"));
  });
});

describe("machines behind one address, one after another, that look at tags and pull some", () => {
  /** What each tag resolves to, and the manifests of platforms in it. Two tags have one digest. */
  const TAGS: Readonly<Record<string, { digest: string; platforms: readonly string[] }>> = {
    "1.4": { digest: "index", platforms: ["amd64", "arm64"] },
    "1.5": { digest: "moved", platforms: ["moved-amd64"] },
    latest: { digest: "moved", platforms: ["moved-amd64"] },
    single: { digest: "sbom", platforms: [] },
  };
  type Resolved = { tag: string; digest: string };
  const DOCKER = ({ tag, digest }: Resolved) => [`HEAD:${tag}`, `GET:${digest}`];
  const LOGIN = ({ tag, digest }: Resolved) => [
    `HEAD:${tag}`,
    `HEAD:${tag}`,
    `GET:${digest}`,
    `GET:${digest}`,
  ];
  const BY_TAG = ({ tag }: Resolved) => [`GET:${tag}`];

  test.each([
    ["dockerd", CLIENT, DOCKER, 0],
    ["containerd, logging in", REPEATS, LOGIN, 0],
    ["containerd, without logging in", REPEATS, DOCKER, 15_000],
    ["crane", CLIENT, BY_TAG, 0],
  ])("are counted for each pull of %s, with its tag", (_, client, pull, pauseMs) => {
    const look = (of: Resolved) => pull(of).filter((step) => step.startsWith("HEAD"));
    const visit = fc.record({
      tag: fc.constantFrom(...Object.keys(TAGS)),
      pulls: fc.boolean(),
      platform: fc.nat(1),
    });
    fc.assert(
      fc.property(fc.array(visit, { maxLength: 12 }), (visits) => {
        const { send, pass } = sender();
        const counted = visits.flatMap(({ tag, pulls, platform }) => {
          const { digest, platforms } = TAGS[tag] ?? { digest: "", platforms: [] };
          const child = platforms.slice(platform % platforms.length).slice(0, 1);
          const of = { tag, digest };
          const steps = pulls ? [...pull(of), ...child.map((name) => `GET:${name}`)] : look(of);
          pass(pauseMs);
          return steps.flatMap((step) => send(step, client));
        });
        expect(counted).toEqual(visits.filter(({ pulls }) => pulls).map(({ tag }) => tag));
      }),
    );
  });
});

describe("what belongs together", () => {
  it.each([
    ["HEAD:1.4", 119_999, "GET:index", ["1.4"]],
    ["HEAD:1.4", 120_000, "GET:index", ["-"]],
    ["GET:1.4", 119_999, "GET:amd64", []],
    ["GET:1.4", 120_000, "GET:amd64", ["-"]],
  ])("is, after %s and %d ms, with %s: %j", (first, ms, second, pulls) => {
    const { send, pass } = sender();
    send(first);
    pass(ms);
    expect(send(second)).toEqual(pulls);
  });

  it.each([
    ["address", ["192.0.2.2", "docker/27.3.1", "package"]],
    ["user agent", ["192.0.2.1", "docker/27.3.2", "package"]],
    ["image", ["192.0.2.1", "docker/27.3.1", "other"]],
  ])("has one %s", (_, other) => {
    const { send } = sender();
    send("HEAD:1.4");
    expect(send("GET:index", other)).toEqual(["-"]);
    expect(send("GET:index")).toEqual(["1.4"]);
  });
});

it("forgets the clients that were seen longest ago, however many come", () => {
  const { send } = sender();
  send("HEAD:1.4", ["first"]);
  for (let number = 0; number < 60_000; number++) send("HEAD:1.4", [String(number)]);
  expect(send("GET:index", ["59999"])).toEqual(["1.4"]);
  expect(send("GET:index", ["first"])).toEqual(["-"]);
});

it("remembers a bounded number of tags and digests of one client", () => {
  const client = new PullingClient(false);
  for (let number = 0; number < 2_000; number++) {
    client.takeTag("HEAD", `1.${number}`, 0);
    client.takeDigest("GET", String(number), 0);
  }
  expect(client.size).toBeLessThanOrEqual(500);
});
