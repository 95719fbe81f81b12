import { describe, expect, test } from "vitest";
import { publicBase } from "../../../../../api/http/middleware/public-base.js";
import type { ApiContext } from "../../../../../api/http/route.js";

function baseFor(trusted: boolean, headers: Record<string, string>, host = "inner:8080"): string {
  const ctx = {
    req: { socket: { remoteAddress: "10.0.0.1", localPort: 8080 } },
    protocol: "http",
    host,
    get: (name: string) => headers[name] ?? "",
    state: {},
  } as unknown as ApiContext;
  void publicBase((address) => trusted && address === "10.0.0.1")(ctx, () => Promise.resolve());
  return ctx.state.publicBase;
}

const FORWARDED = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "api.example, inner",
  "X-Forwarded-Prefix": "/tools/",
};

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

  test.each([
    { "X-Forwarded-Proto": "javascript" },
    { "X-Forwarded-Host": "a/b?c" },
    { "X-Forwarded-Host": "a:b:c" },
    { "X-Forwarded-Prefix": "//evil.example" },
  ])("ignores what is not of the form: %j", (headers) => {
    expect(baseFor(true, headers)).toBe("http://inner:8080");
  });
});
