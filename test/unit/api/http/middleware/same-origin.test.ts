import { expect, test } from "vitest";
import { comesFromHere, isBelowDashboard } from "../../../../../api/http/middleware/browser-security.js";

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

test.each([
  ["/dashboard", true],
  ["/dashboard/sign-in", true],
  ["/dashboards", false],
  ["/v1/user", false],
  ["/", false],
])("%s belongs to the dashboard: %j", (path, expected) => {
  expect(isBelowDashboard(path)).toBe(expected);
});
