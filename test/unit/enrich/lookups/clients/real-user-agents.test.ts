import { readFileSync } from "node:fs";
import Bowser from "bowser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseClient } from "../../../../../enrich/lookups/clients/open-clients.js";
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
  ...[
    "curl/8.9.1",
    "docker/27.3.1",
    "Mozilla/5.0",
    "aws-cli/2.18.16 md/awscrt#0.22.0",
    "(compatible; Foobot/1.0",
    "Opera/9.80",
  ],
  ...[
    "AppleWebKit/537.36",
    "Version/4.0",
    "Edg/131.0",
    "pip/",
    "NuGet ",
    "Debian APT-HTTP/1.3 (",
    "HashiCorp/1.0",
    "crawler",
  ],
  ...[
    "\t",
    "\u0000",
    "\u00a0",
    "\u2028",
    "é",
    "💥",
    '"',
    "'",
    "%20",
    "<script>",
    "{",
    "}",
    "\\",
    "#",
    "?",
    "=",
    "/",
    "//",
    "(",
    ")",
  ],
  ...[
    "x".repeat(70),
    "9".repeat(70),
    "v1.",
    "v",
    "1.0-",
    "a b c/1 d",
    "550e8400-e29b-41d4-a716-446655440000",
    " ",
    "  ",
    ";",
    ",",
  ],
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
const NAME = /^[\x21-\x7e]{0,64}$/;

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
