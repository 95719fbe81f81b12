import { describe, expect, test } from "vitest";
import { buildDocument, type OpenApiDocument } from "../../../../api/http/openapi/build-document.js";
import { ALL_ROUTES } from "../../../support/api/all-routes.js";
import { answerCheck, type SeenAnswer } from "../../../support/api/check-answer.js";

const DOCUMENT = buildDocument(ALL_ROUTES, { version: "1.0.0" });
const TIME = "2026-08-04T13:58:26.021037Z";
const ORGANIZATION = {
  name: "acme",
  description: "",
  billingEmail: "a@b.example",
  createdAt: TIME,
  updatedAt: TIME,
};
const HEADERS = { "x-request-id": "1", etag: '"1"', "content-type": "application/json; charset=utf-8" };

const GOOD: SeenAnswer = {
  method: "GET",
  path: "/v1/organizations/ac%2Fme",
  status: 200,
  headers: new Headers(HEADERS),
  text: JSON.stringify(ORGANIZATION),
};
const NOT_FOUND = { ...GOOD, status: 404, text: '{"code":"not-found","message":"No."}' };

function without(name: string): Headers {
  const headers = new Headers(HEADERS);
  headers.delete(name);
  return headers;
}

describe("an answer passes", () => {
  test.each<[string, SeenAnswer]>([
    ["as it is described", GOOD],
    ["to HEAD, without its body", { ...GOOD, method: "HEAD", text: "" }],
    ["as a problem that the operation has", NOT_FOUND],
    ["as a refusal at a path that does not exist", { ...NOT_FOUND, path: "/v1/nothing" }],
    [
      "under the older word for pixels",
      { ...NOT_FOUND, path: "/v2/tracking-pixels/acme/1/import", method: "POST" },
    ],
  ])("%s", (_, answer) => {
    expect(() => answerCheck(DOCUMENT).check(answer)).not.toThrow();
  });
});

describe("an answer fails", () => {
  test.each<[string, Partial<SeenAnswer>]>([
    ["with a field too many", { text: JSON.stringify({ ...ORGANIZATION, id: 7 }) }],
    ["with a field too few", { text: '{"name":"acme"}' }],
    ["with a time of another form", { text: JSON.stringify({ ...ORGANIZATION, createdAt: "2026-08-04" }) }],
    ["with a status that is not described", { status: 202 }],
    ["with another content type", { headers: new Headers({ ...HEADERS, "content-type": "text/plain" }) }],
    ["without the ETag of a read", { headers: without("etag") }],
    ["without its request's id", { headers: without("x-request-id") }],
    [
      "with a code that the operation does not have",
      { ...NOT_FOUND, text: '{"code":"gone","message":"No."}' },
    ],
    ["as a problem of another form", { ...NOT_FOUND, path: "/v1/nothing", text: '{"error":"no"}' }],
    ["of success where there is nothing", { path: "/v1/nothing" }],
  ])("%s", (_, changed) => {
    expect(() => answerCheck(DOCUMENT).check({ ...GOOD, ...changed })).toThrow(
      "against the OpenAPI document",
    );
  });

  test("once a field of its schema is dropped", () => {
    const mutated = structuredClone(DOCUMENT) as OpenApiDocument & {
      components: { schemas: { OrganizationV1: { properties: Record<string, unknown> } } };
    };
    delete mutated.components.schemas.OrganizationV1.properties["updatedAt"];
    expect(() => answerCheck(mutated).check(GOOD)).toThrow("additional properties");
  });
});

describe("a line of an export", () => {
  const seen = {
    ...GOOD,
    path: "/v1/organizations/acme/aggregates",
    headers: new Headers({ ...HEADERS, "content-type": "application/x-ndjson", "x-complete-through": TIME }),
  };
  const checkLine = answerCheck(DOCUMENT).checkLine(seen);
  const line = { breakdown: "total", date: "2026-11-01", package: crypto.randomUUID(), total: 1 };

  test("passes as it is described", () => {
    expect(() => checkLine?.(JSON.stringify({ ...line, unique_total: 1 }))).not.toThrow();
    expect(checkLine).toBeDefined();
  });

  test.each([{ total: "1" }, { breakdown: "planet" }, { planet: "Mars" }])("fails with %j", (wrong) => {
    expect(() => checkLine?.(JSON.stringify({ ...line, ...wrong }))).toThrow("against the OpenAPI document");
  });
});
