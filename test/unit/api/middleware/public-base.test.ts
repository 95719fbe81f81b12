import { describe, expect, test } from "vitest";
import { publicBase } from "../../../../api/middleware/public-base.js";
import type { ApiContext } from "../../../../api/route.js";

function baseFor(trusted: boolean, headers: Record<string, string>): string {
  const ctx = {
    req: { socket: { remoteAddress: "10.0.0.1" } },
    protocol: "http",
    host: "inner:8080",
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

  test.each([
    { "X-Forwarded-Proto": "javascript" },
    { "X-Forwarded-Host": "a/b?c" },
    { "X-Forwarded-Prefix": "//evil.example" },
  ])("ignores what is not of the form: %j", (headers) => {
    expect(baseFor(true, headers)).toBe("http://inner:8080");
  });
});
