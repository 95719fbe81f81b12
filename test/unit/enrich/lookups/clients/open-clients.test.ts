import { readFileSync } from "node:fs";
import Bowser from "bowser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openClients, parseClient } from "../../../../../enrich/lookups/clients/open-clients.js";
import { UNKNOWN_CLIENT } from "../../../../../schemas/records/enriched-event.js";

/** User agent, client, version, platform, whether it is automated, and the page or the source file of the client that says so. */
const rows = readFileSync(new URL("../../../../fixtures/user-agents/clients.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t") as [string, string, string, string, string, string]);

describe("the user agents that real clients send", () => {
  it("are 300 at least, each with its source", () => {
    expect(rows.length).toBeGreaterThanOrEqual(300);
    expect(rows.filter((row) => row.length !== 6 || row[5] === "")).toEqual([]);
    expect(new Set(rows.map(([userAgent]) => userAgent)).size).toBe(rows.length);
  });

  it.each(rows)(
    "%s is %s %s on %s, automated: %s",
    (userAgent, client, clientVersion, platform, automated) => {
      expect(parseClient(userAgent)).toEqual({ client, clientVersion, platform, automated });
    },
  );
});

/** Parts that user agents are made of, with tails, ids, quotes, controls and lengths that no client sends. */
const PIECES = [
  ..."curl/8.9.1 docker/27.3.1 Mozilla/5.0 Opera/9.80 AppleWebKit/537.36 Version/4.0 Edg/131.0".split(" "),
  ..."pip/ HashiCorp/1.0 crawler %20 <script> // v1. v 1.0- 💥 550e8400-e29b-41d4-a716-446655440000".split(
    " ",
  ),
  ...["aws-cli/2.18.16 md/awscrt#0.22.0", "(compatible; Foobot/1.0", "NuGet ", "Debian APT-HTTP/1.3 ("],
  ...["a b c/1 d", "  ", "x".repeat(70), "9".repeat(70)],
  ..."\t\0\u00a0\u2028é\"'{}\\#?=/() ;,",
];

const hostile = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join("")),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(" ")),
  fc
    .tuple(fc.constantFrom(...rows), fc.string({ unit: "binary" }))
    .map(([[userAgent], tail]) => userAgent + tail),
  fc.tuple(fc.string(), fc.constantFrom(...rows)).map(([head, [userAgent]]) => head + userAgent),
  fc.string({ unit: "binary", maxLength: 300 }),
);

/** The names that Bowser gives to browsers. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
/** Words between single spaces: `Microsoft BITS`, `1.0 dev`. */
const NAME = /^(?=.{0,64}$)(?:[\x21-\x7e]+(?: [\x21-\x7e]+)*)?$/;

describe("hostile user agents", () => {
  it("have a name of at most 64 printable characters without a tail, and a version of at most 64", () => {
    fc.assert(
      fc.property(hostile, (userAgent) => {
        const { client, clientVersion, platform } = parseClient(userAgent);
        if (!BROWSERS.has(client)) expect(client).toMatch(NAME);
        expect(clientVersion).toMatch(NAME);
        expect(clientVersion).not.toMatch(/^v\d/);
        expect(platform.length).toBeLessThanOrEqual(64);
      }),
      { seed: 18, numRuns: 20_000 },
    );
  });

  it.each([
    ["a name", "x".repeat(65), ""],
    ["an id", "550e8400-e29b-41d4-a716-446655440000", ""],
    ["a hash", "d41d8cd98f00b204e9800998ecf8427e/1.0", ""],
    ["a URL", "https://example.com/bot", ""],
    ["a sentence", "Please let me download this file", "please"],
    ["a version", `curl/${"1".repeat(65)}`, "curl"],
  ])("%s that is none is left out", (_, userAgent, client) => {
    expect(parseClient(userAgent)).toEqual({ ...UNKNOWN_CLIENT, client });
  });

  it.each(["Foo/1.0", "foo/1.0", "FOO/v1.0", "Foo 1.0 (x)"])("%s is foo", (userAgent) => {
    expect(parseClient(userAgent)).toEqual({ ...UNKNOWN_CLIENT, client: "foo", clientVersion: "1.0" });
  });
});

describe("parseClient", () => {
  it.each([
    [
      'uv/0.1.22 {"distro":null,"system":{"name":"Windows","release":"2022Server"}}',
      "uv",
      "0.1.22",
      "Windows",
    ],
    ["pnpm/8.6.0 npm/? node/v18.16.0 win32 x64", "pnpm", "8.6.0", "Windows"],
    ["APN/1.0 HashiCorp/1.0 Terraform/1.9.8 (+https://www.terraform.io)", "terraform", "1.9.8", ""],
    ["uvx/1.2.3+build.7", "uvx", "1.2.3+build.7", ""],
    ["Acme Downloader (Linux)", "acme", "", "Linux"],
  ])("%s is %s %s on %s", (userAgent, client, clientVersion, platform) => {
    expect(parseClient(userAgent)).toMatchObject({ client, clientVersion, platform });
  });

  it.each(["", " ", "-", "(null)", "null", "12345", "unknown"])("does not know who %j is", (userAgent) => {
    expect(parseClient(userAgent)).toBe(UNKNOWN_CLIENT);
  });

  it("never throws, and answers with frozen text without line breaks", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (userAgent) => {
        const client = parseClient(`Mozilla/5.0 (${userAgent}`);
        expect(Object.isFrozen(client)).toBe(true);
        expect(Object.values(client).join("")).not.toMatch(/[\r\n]/);
      }),
    );
  });
});

describe("openClients", () => {
  it("gives the same object again for an equal string", () => {
    const clientsOf = openClients({ cacheBytesMax: 10_000 });
    expect(clientsOf.of("curl/8.1.2")).toBe(clientsOf.of("curl/8.1.2"));
  });

  it("keeps answering right when strings no longer fit into its cache", () => {
    const few = openClients({ cacheBytesMax: 1_000 });
    const askAll = () => rows.map(([userAgent]) => few.of(userAgent).client);
    expect(askAll()).toEqual(rows.map(([, client]) => client));
    expect(askAll()).toEqual(rows.map(([, client]) => client));
  });

  it("reads a string that is too long to be kept", () => {
    const userAgent = `curl/8.1.2 ${"x".repeat(1_000_000)}`;
    expect(openClients({ cacheBytesMax: 1_000 }).of(userAgent).client).toBe("curl");
  });
});

describe("the client of a live event", () => {
  const clients = openClients({ cacheBytesMax: 10_000 });

  it("has the platform that its request names, under the name of exports", () => {
    const curl = { client: "curl", clientVersion: "8.9.1", platform: "macOS", automated: "" };
    expect(clients.of("curl/8.9.1 (Windows)", { platform: "darwin" })).toEqual(curl);
    expect(clients.of("curl/8.9.1", { platform: "riscos" }).platform).toBe("riscos");
  });

  it("has the client and the version that its request reports", () => {
    const reported = { client: "Node", clientVersion: "v22.11.0", platform: "win32" };
    const node = { client: "node", clientVersion: "22.11.0", platform: "Windows", automated: "" };
    expect(clients.of("node", reported)).toEqual(node);
  });

  it("has a client that is reported without a version only if its user agent names none", () => {
    expect(clients.of("", { client: "npm" })).toEqual({ ...UNKNOWN_CLIENT, client: "npm" });
    expect(clients.of("npm/10.9.0 node/v22 linux x64", { client: "npm" }).clientVersion).toBe("10.9.0");
  });

  it("is automated as its user agent says, whatever its request reports", () => {
    const inCi = "npm/10.9.0 node/v22 linux x64 ci/github-actions";
    expect(clients.of(inCi, { platform: "linux" }).automated).toBe("ci");
    expect(clients.of("Googlebot/2.1", { client: "npm", clientVersion: "10.9.0" }).automated).toBe("bot");
  });

  it("shares the client of its user agent where its request says nothing", () => {
    expect(clients.of("curl/8.9.1", {})).toBe(clients.of("curl/8.9.1"));
  });
});
