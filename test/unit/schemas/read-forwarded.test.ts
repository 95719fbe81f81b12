import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { trustsProxy } from "../../../deploy/roles/servers/listen.js";
import { parseAuthority, parseForwarded, readForwarded } from "../../../schemas/read-forwarded.js";
import { testTable } from "../../support/test-table.js";

const trusted = trustsProxy(["10.0.0.0/8", "2001:db8:ffff::/48"]);
const CLIENT = "198.51.100.7";

/** From a trusted proxy, unless said otherwise. */
function read(headers: Record<string, string>, remoteAddress: string | undefined = "10.0.0.1") {
  return readForwarded({ socket: { remoteAddress }, headers }, trusted);
}

describe("the address of a client", () => {
  test.each([
    ["without headers", {}, "10.0.0.1"],
    ["in X-Forwarded-For", { "x-forwarded-for": CLIENT }, CLIENT],
    ["before spaces and a port", { "x-forwarded-for": ` ${CLIENT}:4711 ` }, CLIENT],
    ["in quotes", { "x-forwarded-for": '"[2001:db8:1::9]:443"' }, "2001:db8:1::9"],
    ["in brackets without a port", { "x-forwarded-for": "[2001:DB8:1:0::9]" }, "2001:db8:1::9"],
    ["IPv6 without brackets", { "x-forwarded-for": "2001:db8:1::9" }, "2001:db8:1::9"],
    ["with a zone", { "x-forwarded-for": "fe80::1%eth0" }, "fe80::1"],
    [
      "through IPv6 and IPv4 proxies",
      { "x-forwarded-for": `${CLIENT}, 2001:db8:ffff::2, ::ffff:10.0.0.9` },
      CLIENT,
    ],
    ["after an invented one", { "x-forwarded-for": `203.0.113.9, ${CLIENT}` }, CLIENT],
    ["after an empty entry", { "x-forwarded-for": `203.0.113.9,,${CLIENT}` }, CLIENT],
    ["that is unknown", { "x-forwarded-for": `${CLIENT}, unknown` }, "10.0.0.1"],
    ["in Forwarded", { forwarded: `by=10.0.0.1;FOR=${CLIENT};host=a` }, CLIENT],
    ["in Forwarded in quotes", { forwarded: 'For="[2001:db8:1::9]:443";proto=https' }, "2001:db8:1::9"],
    ["in Forwarded in quotes without a port", { forwarded: `for="${CLIENT}"` }, CLIENT],
    ["in Forwarded with a hidden port", { forwarded: `for="${CLIENT}:_gazonk"` }, CLIENT],
    ["in Forwarded with escapes", { forwarded: String.raw`for="198.51.\100.7"` }, CLIENT],
    [
      "in Forwarded without the quotes that a colon needs",
      { forwarded: "for=[2001:db8:1::9]:443" },
      "2001:db8:1::9",
    ],
    ["in the last untrusted element", { forwarded: `for=203.0.113.9, for=${CLIENT},for=10.0.0.2` }, CLIENT],
    ["around empty elements and parameters", { forwarded: `,, ;for=${CLIENT}; ,` }, CLIENT],
    ["with spaces that RFC 7239 does not have", { forwarded: `for = ${CLIENT} ; proto = https` }, CLIENT],
    ["hidden in Forwarded", { forwarded: `for=${CLIENT}, for=_hidden` }, "10.0.0.1"],
    ["unknown in Forwarded", { forwarded: `for=${CLIENT}, for=unknown` }, "10.0.0.1"],
    ["not said in Forwarded", { forwarded: `for=${CLIENT}, proto=https` }, "10.0.0.1"],
    ["beside quoted text", { forwarded: `host="a, for=203.0.113.9";for=${CLIENT}` }, CLIENT],
    ["said twice", { forwarded: `for=${CLIENT};for=203.0.113.9` }, CLIENT],
    ["in an extension's value", { forwarded: `secret="for=203.0.113.9";for=${CLIENT};x=1` }, CLIENT],
    ["in both", { "x-forwarded-for": CLIENT, forwarded: "for=203.0.113.9" }, CLIENT],
    [
      "in Forwarded beside an empty X-Forwarded-For",
      { "x-forwarded-for": "", forwarded: `for=${CLIENT}` },
      CLIENT,
    ],
    ["in quotes that do not end", { forwarded: `for="${CLIENT}` }, "10.0.0.1"],
  ])("%s", (_, headers, address) => {
    expect(read(headers).address).toBe(address);
  });

  test("is not told by who is no proxy, and unknown where the connection is gone", () => {
    const headers = {
      "x-forwarded-for": CLIENT,
      "x-forwarded-proto": "https",
      "x-forwarded-host": "a.example",
    };
    expect(read(headers, "192.0.2.1")).toEqual({ address: "192.0.2.1" });
    expect(readForwarded({ socket: {}, headers }, trusted)).toEqual({ address: undefined });
  });
});

describe("the scheme", () => {
  test.each([
    [{ "x-forwarded-proto": "https" }, "https"],
    [{ "x-forwarded-proto": "HTTPS" }, "https"],
    [{ "x-forwarded-proto": " https , http" }, "https"],
    [{ "x-forwarded-proto": '"https"' }, "https"],
    [{ forwarded: "proto=https" }, "https"],
    [{ forwarded: 'for=192.0.2.60;PROTO="Https";by=203.0.113.43' }, "https"],
    [{ forwarded: "proto=https", "x-forwarded-proto": "http" }, "http"],
    [{ forwarded: "proto=https", "x-forwarded-for": CLIENT }, undefined],
    [{ forwarded: "proto=ftp" }, undefined],
    [{ "x-forwarded-proto": "javascript" }, undefined],
    [{}, undefined],
  ])("of %j is %s", (headers, protocol) => {
    expect(read(headers as Record<string, string>).protocol).toBe(protocol);
  });
});

describe("the host in Forwarded", () => {
  test.each([
    [
      "is the one of the outermost trusted proxy",
      `for=203.0.113.9;host=evil, for=${CLIENT};host=a, for=10.0.0.2;host=b`,
      "a",
    ],
    ["is an inner one's where the outermost says none", `for=${CLIENT}, for=10.0.0.2;host=b`, "b"],
    ["is there where the client is hidden", "for=_hidden;host=a", "a"],
    ["is not that of a proxy behind a hidden one", "for=192.0.2.1;host=evil, for=_hidden;host=a", "a"],
  ])("%s", (_, forwarded, hostname) => {
    expect(read({ forwarded }).host).toEqual({ hostname, port: "" });
  });
});

describe("a host", () => {
  testTable("%s is %j", parseAuthority, [
    ["stats.example", { hostname: "stats.example", port: "" }],
    ["Stats.EXAMPLE:8443", { hostname: "stats.example", port: "8443" }],
    ["stats.example:", { hostname: "stats.example", port: "" }],
    ["stats.example.", { hostname: "stats.example.", port: "" }],
    ["stats%2Eexample", { hostname: "stats.example", port: "" }],
    ["my_stats.example", { hostname: "my_stats.example", port: "" }],
    ["xn--bcher-kva.example", { hostname: "xn--bcher-kva.example", port: "" }],
    ["b%C3%BCcher.example", { hostname: "xn--bcher-kva.example", port: "" }],
    ["192.0.2.1:80", { hostname: "192.0.2.1", port: "80" }],
    ["[2001:DB8:0:0::1]:8443", { hostname: "[2001:db8::1]", port: "8443" }],
    ["[::ffff:192.0.2.1]", { hostname: "[::ffff:c000:201]", port: "" }],
  ]);

  test.each([
    "",
    "a b",
    "a/b",
    "a?b",
    "a#b",
    "a:b:c",
    "a:99999",
    "a:-1",
    "[::1",
    "::1",
    "u:p@a",
    "<b>",
    "a%2Fb",
    "a%zz",
    "a,b",
    "%00",
  ])("%j is none", (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });
});

describe("a prefix", () => {
  testTable("%s is read as %s", (sent) => read({ "x-forwarded-prefix": sent }).prefix, [
    ["/tools", "/tools"],
    ["/tools/", "/tools"],
    ["/a/b.c/d~e", "/a/b.c/d~e"],
    ["/t%C3%B6ols", "/t%C3%B6ols"],
    ["/a:b@c!$&'()*+=", "/a:b@c!$&'()*+="],
    ["/a, /b", "/a"],
    ["/", undefined],
    ["tools", undefined],
    ["//evil.example", undefined],
    ["/a//b", undefined],
    ["/a/../b", undefined],
    ["/a/%2E%2e/b", undefined],
    ["/a/.", undefined],
    ["/a?b", undefined],
    ["/a#b", undefined],
    ["/a%", undefined],
    ["/a b", undefined],
    ["/ä", undefined],
    ['/a"b', undefined],
    ["/a<b", undefined],
    ["/a\\b", undefined],
  ]);
});

describe("a port", () => {
  testTable("%s is read as %s", (sent) => read({ "x-forwarded-port": sent }).port, [
    ["8443", "8443"],
    ["8443, 80", "8443"],
    ["443", undefined],
    ["80", undefined],
    ["65536", undefined],
    ["_http", undefined],
    ["-1", undefined],
    ["", undefined],
  ]);
});

describe("Forwarded", () => {
  const value = fc.string({ minLength: 1, unit: fc.constantFrom(...'ab1.:[]_-,;="\\ \t') });
  const quote = (text: string) => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;
  const name = (text: string) => fc.mixedCase(fc.constant(text));
  const hop = fc.record({ for: value, host: value, proto: value }, { requiredKeys: ["for"] });

  test("is read as it was written, whatever the values hold", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(hop, name("for"), name("host"), name("proto")), { minLength: 1 }),
        (elements) => {
          const written = elements.map(([{ for: client, host, proto }, ...names]) =>
            [client, host, proto]
              .map((text, at) => (text === undefined ? "" : `${names[at]}=${quote(text)}`))
              .join(";"),
          );
          expect(parseForwarded(written.join(", "))).toEqual(elements.map(([each]) => ({ ...each })));
        },
      ),
    );
  });

  test("is no error, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'for=host"\\,; \t[]:1_') }), (forwarded) => {
        expect(read({ forwarded }).address).toBeTypeOf("string");
      }),
    );
  });

  /** In quadratic time this would take minutes, and the test its time limit. */
  test.each(['for="\\"', '"', 'a="b', "a ", " ", ",", ";a="])("is read in linear time: %j", (part) => {
    expect(read({ forwarded: part.repeat(300_000) }).address).toBe("10.0.0.1");
  });
});
