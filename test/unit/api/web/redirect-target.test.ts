import { expect, test } from "vitest";
import { redirectTarget } from "../../../../api/dashboard/sign-in/sign-in-deps.js";
import { testTable } from "../../../support/test-table.js";

testTable("%j is a page of the dashboard: %j", redirectTarget, [
  ["/dashboard", "/dashboard"],
  ["/dashboard/o/acme", "/dashboard/o/acme"],
  [
    "/dashboard/o/acme/packages/a%2Fb?country=DE&country=FR",
    "/dashboard/o/acme/packages/a%2Fb?country=DE&country=FR",
  ],
  ["/dashboard?x=1", "/dashboard?x=1"],
  ["/dashboard/./o/../o/acme", "/dashboard/o/acme"],
]);

test.each([
  "",
  "/",
  "/v1/user",
  "/dashboards",
  "https://evil.example/dashboard",
  "//evil.example/dashboard",
  "/\\evil.example/dashboard",
  "/dashboard/../v1/user",
  "/dashboard/%2e%2e/v1/user",
  "/dashboard/%2E./v1/user",
  "/dashboard/..\\..\\evil",
  "/dashboard\\..\\evil",
  "/dashboard\n//evil.example",
  "\t/dashboard",
  "/dashboard@evil.example",
  "javascript:alert(1)",
  "/dashboard/api/v1/user",
  "/dashboard/sign-in?to=/dashboard/sign-in",
  "/dashboard/sign-out",
  `/dashboard/${"a".repeat(2000)}`,
])("%j leads to the dashboard itself", (to) => {
  expect(redirectTarget(to)).toBe("/dashboard");
});
