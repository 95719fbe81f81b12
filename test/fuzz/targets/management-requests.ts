import assert from "node:assert/strict";
import fc from "fast-check";
import type { OpenApiDocument } from "../../../api/base/http/openapi/build-document.js";
import { makePackage, makePixel } from "../../support/imports/make-artifacts.js";
import type { FuzzTarget } from "../fuzz-world.js";
import { asText, damaged, hostileText, percentEncoded } from "../values.js";
import { valuesOf, type Schema } from "./schema-values.js";

interface Input {
  operation: string;
  path: Record<string, Named>;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Something that exists, by its place among all that does, or any text. */
type Named = { known: number } | { text: string };

/** Every operation of the document but one: no answer is a 5xx, and each is as the document says. */
export const managementRequests: FuzzTarget<Input> = {
  name: "management-requests",
  runs: 300,
  async open({ sent }, { api, name }) {
    const document = await api.get<OpenApiDocument>("/openapi.json");
    const operations = operationsOf(document);
    const artifacts = [
      await makePackage(api, { organization: name, name: "web", libraryType: "other" }),
      await makePixel(api, { owner: name, name: "docs" }),
    ];
    const known = new Set([name, `${name}-ada`, "web", "docs", ...artifacts.map(({ id }) => id)]);
    return {
      inputs: fc.constantFrom(...operations).chain((operation) => inputsOf(operation)),
      async attempt(input) {
        sent.requests += 1;
        const [method = "", template = ""] = input.operation.split(" ");
        const path = pathOf(template, input, [...known]);
        const { headers, body } = input;
        const answer = await api.request(path, { method, headers, ...(body !== undefined && { body }) });
        const text = await answer.text();
        assert.ok(answer.status < 500, `${method} ${path} is answered ${answer.status} ${text}`);
        if (answer.status === 201) noteNames(known, text);
      },
      close: () => Promise.resolve(),
    };
  },
};

/** It would take the token from all others. */
const LEFT_OUT = ["rotateToken"];

interface OperationObject {
  operationId: string;
  parameters?: { in: "path" | "query" | "header"; name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface FuzzedOperation extends OperationObject {
  name: string;
  resolve: (ref: string) => Schema;
}

function operationsOf({ paths, components }: OpenApiDocument): FuzzedOperation[] {
  const schemas = components["schemas"] as Record<string, Schema>;
  const resolve = (ref: string) => schemas[ref.split("/").pop() ?? ""] ?? {};
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const operation = described as unknown as OperationObject;
      if (LEFT_OUT.includes(operation.operationId)) return [];
      return [{ ...operation, name: `${method.toUpperCase()} ${path}`, resolve }];
    }),
  );
}

function inputsOf({ name, parameters = [], requestBody, resolve }: FuzzedOperation): fc.Arbitrary<Input> {
  const at = (place: string) => parameters.filter((each) => each.in === place);
  const entries = <T>(place: string, values: (schema: Schema) => fc.Arbitrary<T>) =>
    Object.fromEntries(at(place).map((each) => [each.name, values(each.schema)]));
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return fc.record({
    operation: fc.constant(name),
    path: fc.record(entries("path", (schema) => named(schema, resolve))),
    query: fc.record(
      entries("query", (schema) => valuesOf(schema, resolve)),
      { requiredKeys: [] },
    ),
    headers: fc
      .record(entries("header", headerText), { requiredKeys: [] })
      .map((headers) => ({ ...headers, ...(type !== undefined && { "Content-Type": type }) })),
    body: content === undefined ? fc.constant(undefined) : bodies(valuesOf(content.schema, resolve)),
  });
}

function named(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<Named> {
  const known = fc.nat({ max: 1000 }).map((place) => ({ known: place }));
  const texts = (schema.enum === undefined ? hostileText : valuesOf(schema, resolve)).map((text) => ({
    text: asText(text),
  }));
  return fc.oneof(
    { weight: schema.enum === undefined ? 5 : 0, arbitrary: known },
    { weight: 1, arbitrary: texts },
  );
}

function headerText(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom("*", '"a"', 'W/"a", "b"', "gzip", "identity"),
    fc.string().map((text) => text.trim()),
  );
}

function bodies(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const json = values.map((value) => asText(value));
  return fc.oneof(
    { weight: 12, arbitrary: json },
    { weight: 1, arbitrary: damaged(json) },
    { weight: 1, arbitrary: hostileText },
  );
}

function pathOf(template: string, { path, query }: Input, known: readonly string[]): string {
  const textOf = (name: Named) => ("text" in name ? name.text : (known[name.known % known.length] ?? ""));
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    percentEncoded(textOf(path[name] ?? { text: "" })),
  );
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}=${percentEncoded(asText(each))}`),
  );
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

const KNOWN_MAX = 100;

/** Names and ids of what was made lead to it from now on. */
function noteNames(known: Set<string>, text: string): void {
  const { id, uuid, name } = JSON.parse(text) as Record<string, unknown>;
  for (const each of [id, uuid, name])
    if (typeof each === "string" && known.size < KNOWN_MAX) known.add(each);
}
