import { expect, test } from "vitest";
import { buildDocument, type OpenApiDocument } from "../../../../api/base/http/openapi/build-document.js";
import { ALL_ROUTES } from "../../../support/api/all-routes.js";
import { answerCheck, type SeenAnswer } from "../../../support/api/check-answer.js";

const DOCUMENT = buildDocument(ALL_ROUTES, { version: "1.0.0" });
const TIME = "2026-08-04T13:58:26.021037Z";
const ACME = { name: "acme", description: "", billingEmail: "a@b.example", createdAt: TIME, updatedAt: TIME };
const HEADERS = { "x-request-id": "1", etag: '"1"', "content-type": "application/json; charset=utf-8" };
const GOOD: SeenAnswer = {
  ...{ method: "GET", path: "/v1/organizations/ac%2Fme", status: 200 },
  ...{ headers: new Headers(HEADERS), text: JSON.stringify(ACME) },
};
const NOT_FOUND = { status: 404, text: '{"code":"not-found","message":"No."}' };
const headers = (changed: Record<string, string>) => ({ headers: new Headers({ ...HEADERS, ...changed }) });
const { etag: _, ...UNTAGGED } = HEADERS;

test.each<[string, Partial<SeenAnswer>]>([
  ["as it is described", {}],
  ["to HEAD, without its body", { method: "HEAD", text: "" }],
  ["as a problem that the operation has", NOT_FOUND],
  ["as a refusal at a path that does not exist", { ...NOT_FOUND, path: "/v1/nothing" }],
])("an answer passes %s", (_name, changed) => {
  expect(() => answerCheck(DOCUMENT).check({ ...GOOD, ...changed })).not.toThrow();
});

test.each<[string, Partial<SeenAnswer>]>([
  ["with a field too many", { text: JSON.stringify({ ...ACME, id: 7 }) }],
  ["with a field too few", { text: '{"name":"acme"}' }],
  ["with a time of another form", { text: JSON.stringify({ ...ACME, createdAt: "2026-08-04" }) }],
  ["with a status that is not described", { status: 202 }],
  ["with another content type", headers({ "content-type": "text/plain" })],
  ["without the ETag of a read", { headers: new Headers(UNTAGGED) }],
  ["with a code that the operation does not have", { ...NOT_FOUND, text: '{"code":"gone","message":"No."}' }],
  ["as a problem of another form", { ...NOT_FOUND, path: "/v1/nothing", text: '{"error":"no"}' }],
  ["of success where there is nothing", { path: "/v1/nothing" }],
])("an answer fails %s", (_name, changed) => {
  expect(() => answerCheck(DOCUMENT).check({ ...GOOD, ...changed })).toThrow("against the OpenAPI document");
});

test("an answer fails once a field of its schema is dropped", () => {
  const mutated = structuredClone(DOCUMENT) as OpenApiDocument & {
    components: { schemas: { OrganizationV1: { properties: Record<string, unknown> } } };
  };
  delete mutated.components.schemas.OrganizationV1.properties["updatedAt"];
  expect(() => answerCheck(mutated).check(GOOD)).toThrow("additional properties");
});

test("a line of an export passes as it is described, and fails with a wrong value", () => {
  const type = headers({ "content-type": "application/x-ndjson", "x-complete-through": TIME });
  const path = "/v1/organizations/acme/aggregates";
  const checkLine = answerCheck(DOCUMENT).checkLine({ ...GOOD, ...type, path }) as (line: string) => void;
  const line = { breakdown: "total", date: "2026-11-01", package: crypto.randomUUID(), total: 1 };
  expect(() => checkLine(JSON.stringify({ ...line, unique_total: 1 }))).not.toThrow();
  expect(() => checkLine(JSON.stringify({ ...line, total: "1" }))).toThrow("against the OpenAPI document");
});
