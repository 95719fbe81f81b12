import { describe, expect, test } from "vitest";
import { collectAddress, publicBase } from "../../../../../../api/base/http/middleware/public-base.js";
import type { ApiContext } from "../../../../../../api/base/http/route.js";
import { testTable } from "../../../../../support/test-table.js";

function baseFor(trusted: boolean, headers: Record<string, string>, host = "inner:8080"): string {
  const ctx = {
    req: { socket: { remoteAddress: "10.0.0.1", localPort: 8080 }, headers: lowerCase(headers) },
    protocol: "http",
    host,
    state: {},
  } as unknown as ApiContext;
  void publicBase((address) => trusted && address === "10.0.0.1")(ctx, () => Promise.resolve());
  return ctx.state.publicBase;
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const FORWARDED = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "api.example, inner",
  "X-Forwarded-Prefix": "/tools/",
};

describe("the address of live collection", () => {
  test.each([
    ["on this machine", "http://127.0.0.1:8080", {}, "http://127.0.0.1:8085", false],
    ["without a proxy", "http://stats.you.example:8080", {}, "http://stats.you.example:8085", false],
    [
      "of its own",
      "https://stats.you.example",
      { publicHost: "px.you.example" },
      "https://px.you.example",
      false,
    ],
    ["with TLS", "https://stats.you.example", {}, "https://get.you.example", true],
    [
      "behind a proxy without TLS",
      "http://stats.you.example",
      { isProxied: true },
      "http://get.you.example",
      true,
    ],
    ["with a port", "https://stats.you.example:8443/tools", {}, "https://get.you.example", true],
    ["beside the domain itself", "https://you.example", {}, "https://get.you.example", true],
    ["beside a domain of three labels", "https://you.co.uk", {}, "https://get.you.co.uk", true],
    ["of a domain of three labels", "https://stats.you.co.uk", {}, "https://get.you.co.uk", true],
    ["behind a proxy at an address", "https://192.0.2.1", {}, "http://192.0.2.1:8085", false],
    ["behind a proxy at an IPv6 address", "https://[2001:db8::1]", {}, "http://[2001:db8::1]:8085", false],
    ["behind a proxy on this machine", "https://localhost", {}, "http://localhost:8085", false],
  ])("%s", (_, base, place, address, isGuessed) => {
    expect(collectAddress(base, { port: 8085, isProxied: false, ...place })).toEqual({
      collectBase: address,
      isCollectGuessed: isGuessed,
    });
  });
});

describe("publicBase", () => {
  test("is what a trusted proxy says, prefix included", () => {
    expect(baseFor(true, FORWARDED)).toBe("https://api.example/tools");
  });

  test("is the request's own host where nothing is forwarded or the sender is not trusted", () => {
    expect(baseFor(true, {})).toBe("http://inner:8080");
    expect(baseFor(false, FORWARDED)).toBe("http://inner:8080");
  });

  test.each(["", "a b", "a/b", "a?b", "a:99999", "[::1", "u:p@a", "<b>"])(
    "is this machine for a request whose host is none: %j",
    (host) => {
      expect(baseFor(false, {}, host)).toBe("http://localhost:8080");
      expect(baseFor(true, { "X-Forwarded-Prefix": "/tools" }, host)).toBe("http://localhost:8080/tools");
    },
  );

  testTable("is what a trusted proxy says in another spelling: %j", (headers) => baseFor(true, headers), [
    [{ Forwarded: "for=192.0.2.1;proto=https;host=stats.example" }, "https://stats.example"],
    [{ Forwarded: 'host="Stats.Example:8443"; PROTO="HTTPS"' }, "https://stats.example:8443"],
    [{ "X-Forwarded-Proto": "HTTPS", "X-Forwarded-Host": "stats.example:443" }, "https://stats.example"],
    [{ "X-Forwarded-Host": "stats.example", "X-Forwarded-Port": "8443" }, "http://stats.example:8443"],
    [{ "X-Forwarded-Host": "stats.example:81", "X-Forwarded-Port": "8443" }, "http://stats.example:81"],
    [{ "X-Forwarded-Port": "8443" }, "http://inner:8080"],
    [{ "X-Forwarded-Host": "[2001:DB8::1]:8443" }, "http://[2001:db8::1]:8443"],
    [{ "X-Forwarded-Prefix": "/t%C3%B6ols/v1/" }, "http://inner:8080/t%C3%B6ols/v1"],
  ]);

  test.each([
    { "X-Forwarded-Proto": "javascript" },
    { "X-Forwarded-Host": "a/b?c" },
    { "X-Forwarded-Host": "a:b:c" },
    { "X-Forwarded-Prefix": "//evil.example" },
  ])("ignores what is not of the form: %j", (headers) => {
    expect(baseFor(true, headers)).toBe("http://inner:8080");
  });

  test.each([
    ["/tools/dashboard?to=a", "https://stats.example/tools/dashboard?to=a"],
    ["../docs", "https://stats.example/tools/docs"],
    ["https://stats.example/tools/v1/packages/1", "https://stats.example/tools/v1/packages/1"],
    ["https://provider.example/authorize?a=1", "https://provider.example/authorize?a=1"],
  ])("is what is configured, whatever the request says, also in a redirect to %s", async (location, to) => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" };
    const answered = new Map<string, string>();
    const ctx = {
      req: { socket: { remoteAddress: "10.0.0.1", localPort: 8080 }, headers },
      protocol: "http",
      host: "evil.example",
      path: "/docs/",
      set: (name: string, value: string) => answered.set(name, value),
      response: { get: (name: string) => answered.get(name) ?? "" },
      state: {},
    } as unknown as ApiContext;
    const answer = () => Promise.resolve(void answered.set("Location", location));
    await publicBase(() => true, { port: 8081 }, "https://stats.example/tools")(ctx, answer);
    expect(ctx.state.publicBase).toBe("https://stats.example/tools");
    expect(ctx.state.collectBase).toBe("https://get.stats.example");
    expect(answered.get("Location")).toBe(to);
  });
});
