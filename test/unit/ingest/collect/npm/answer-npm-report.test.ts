import { expect, test } from "vitest";
import { answerNpmReport } from "../../../../../ingest/collect/answer-npm-report.js";
import type { NpmPackages } from "../../../../../ingest/collect/sites.js";
import { collectRequest } from "../../../../support/collect/fake-registries.js";

const PACKAGES: NpmPackages = {
  of: (name) =>
    name === "@acme/web"
      ? [
          { packageId: "first", ownerId: "acme" },
          { packageId: "second", ownerId: "other" },
        ]
      : [],
};

function report(body: string, method = "POST") {
  return answerNpmReport(
    collectRequest("/package-event/install", { method, body: Buffer.from(body) }),
    PACKAGES,
  );
}

const COUNTED = {
  ownerId: "acme",
  artifact: { kind: "package", id: "first" },
  client: { name: "npm" },
  variables: new Map(),
};

test.each([
  [
    { name: "@acme/web", version: "1.2.3" },
    { rawPlatform: "linux", nodeVersion: "22.11.0" },
    { ...COUNTED, version: "1.2.3", platform: "linux", client: { name: "node", version: "22.11.0" } },
  ],
  [
    { name: "@acme/web" },
    { rawPlatform: "osx", npmVersion: "10.9.0" },
    { ...COUNTED, platform: "osx", client: { name: "npm", version: "10.9.0" } },
  ],
  [{ name: "@acme/web", version: 7 }, { rawPlatform: 7, nodeVersion: 22 }, COUNTED],
  [{ name: "@acme/web", version: "" }, {}, COUNTED],
])("an install of %j with %j is a download of the package that was created first", (parent, rest, event) => {
  const answer = report(JSON.stringify({ libraryType: "npm", ...rest, dependencyInfo: { parent } }));
  expect(answer).toEqual({ status: 200, headers: { "Content-Type": "application/json" }, events: [event] });
});

test.each([
  ["{}"],
  ["[]"],
  ["null"],
  ['"text"'],
  ['{"dependencyInfo": {}}'],
  ['{"dependencyInfo": {"parent": {"name": "unknown", "version": "1"}}}'],
  ['{"dependencyInfo": {"parent": {"name": ["@acme/web"]}}}'],
  ['{"__proto__": {"dependencyInfo": {"parent": {"name": "@acme/web"}}}}'],
])("the report %s is taken and counts for nothing", (body) => {
  expect(report(body)).toMatchObject({ status: 200, events: [] });
});

test.each(["", "{", "name=x", '{"a": 1} {"b": 2}'])("the body %j is refused: it is not JSON", (body) => {
  expect(report(body)).toEqual({ status: 422, headers: {}, events: [] });
});

test.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])("%s is not allowed", (method) => {
  expect(report("{}", method)).toEqual({ status: 405, headers: { Allow: "POST" }, events: [] });
});
