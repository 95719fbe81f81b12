import { expect, test } from "vitest";
import { comesFromHere, isOfPages } from "../../../../../../api/base/http/middleware/browser-security.js";
import {
  cookieForm,
  readCookie,
  setSessionCookie,
} from "../../../../../../api/base/http/middleware/session.js";
import type { ApiContext } from "../../../../../../api/base/http/route.js";
import { testTable } from "../../../../../support/test-table.js";

const HERE = "https://stats.example/tools";

test.each([
  ["GET", "cross-site", "https://evil.example", true],
  ["HEAD", "cross-site", "", true],
  ["POST", "same-origin", "https://stats.example", true],
  ["POST", "none", "", true],
  // A browser leaves Sec-Fetch-Site out over plain http.
  ["POST", "", "https://stats.example", true],
  ["POST", "same-site", "https://stats.example", false],
  ["POST", "same-site", "https://stats.example:8443", false],
  ["POST", "cross-site", "https://evil.example", false],
  ["POST", "anything", "https://stats.example", false],
  ["POST", "", "https://evil.example", false],
  ["POST", "", "http://stats.example", false],
  ["POST", "", "https://stats.example:8443", false],
  ["POST", "", "https://stats.example.evil.example", false],
  ["POST", "", "null", false],
  ["POST", "", "", false],
  ["PUT", "same-site", "", false],
  ["DELETE", "cross-site", "", false],
  ["PATCH", "", "", false],
])("%s with Sec-Fetch-Site %j and Origin %j comes from here: %j", (method, site, origin, expected) => {
  expect(comesFromHere({ method, site, origin }, HERE)).toBe(expected);
});

test("a host that is none has no pages", () => {
  expect(comesFromHere({ method: "POST", site: "", origin: "http://a b" }, "http://a b")).toBe(false);
});

testTable("%s belongs to the pages: %j", isOfPages, [
  ["/dashboard", true],
  ["/dashboard/sign-in", true],
  ["/dashboards", false],
  ["/docs/guide/webhooks", true],
  ["/docs", false],
  ["/v1/user", false],
  ["/", false],
]);

testTable("at %s the cookie is %j", (publicBase) => cookieForm(publicBase, "session"), [
  ["https://stats.example", { name: "__Host-maintainer-session", path: "/", secure: true }],
  ["https://stats.example/tools", { name: "__Host-maintainer-session.tools", path: "/", secure: true }],
  ["https://stats.example:8443/a/b", { name: "__Host-maintainer-session.8443.a.b", path: "/", secure: true }],
  ["http://127.0.0.1:8080", { name: "maintainer-session.8080", path: "/", secure: false }],
  ["http://[::1]:8080", { name: "maintainer-session.8080", path: "/", secure: false }],
  ["http://stats.example/tools", { name: "maintainer-session.tools", path: "/tools", secure: false }],
  ["http://stats.example/a;b=(c)", { name: "maintainer-session.a%3Bb%3D%28c%29", path: "/", secure: false }],
  [
    "http://stats.example/t%C3%B6ols",
    { name: "maintainer-session.t%C3%B6ols", path: "/t%C3%B6ols", secure: false },
  ],
  ["http://no host", { name: "maintainer-session", path: "/", secure: false }],
]);

const contextOf = (publicBase: string, cookie = "") => {
  const set: string[] = [];
  const ctx = {
    state: { publicBase },
    get: (name: string) => (name === "Cookie" ? cookie : ""),
    append: (_: string, value: string) => set.push(value),
  } as unknown as ApiContext;
  return { ctx, set };
};

test("no script sees it, and no other site's request carries it", () => {
  const { ctx, set } = contextOf("https://stats.example");
  setSessionCookie(ctx, "mts_x");
  expect(set).toEqual([
    "__Host-maintainer-session=mts_x; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure",
  ]);
});

test("is found among others, those of other ports included", () => {
  const { ctx } = contextOf(
    "http://127.0.0.1:8080",
    "a=b; maintainer-session.9090=theirs; maintainer-session.8080=ours; c",
  );
  expect(readCookie(ctx, "session")).toBe("ours");
  expect(readCookie(contextOf("http://127.0.0.1:8081", "maintainer-session.8080=x").ctx, "session")).toBe("");
});
