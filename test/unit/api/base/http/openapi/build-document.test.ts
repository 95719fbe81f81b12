import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { buildDocument } from "../../../../../../api/base/http/openapi/build-document.js";
import type { DescribedRoute } from "../../../../../../api/base/http/openapi/components.js";
import { ORGANIZATION_UPSERT } from "../../../../../../schemas/contracts/organization.js";
import {
  WEBHOOK_EVENT_KINDS,
  exampleEvent,
  webhookEventSchema,
} from "../../../../../../schemas/contracts/webhook-event.js";
import { ALL_ROUTES } from "../../../../../support/api/all-routes.js";

const VERSION = { version: "1.2.3" };
const THING = {
  title: "Thing",
  type: "object",
  properties: { parent: { type: "string", format: "owner-name" } },
} as const;

const READ = {
  method: "GET",
  path: "/v1/things/:owner/:thing",
  action: "packages.read",
  operation: {
    id: "getThing",
    tag: "Packages",
    summary: "Read a thing",
    answers: { 200: { description: "It", schema: THING, example: {} } },
  },
} as const satisfies DescribedRoute;

const UPDATE = {
  method: "PUT",
  path: "/v1/things/:owner/:thing",
  action: "packages.update",
  operation: {
    id: "updateThing",
    tag: "Packages",
    summary: "Change a thing",
    body: { schema: THING, example: {} },
    answers: { 200: { description: "It", schema: THING, example: {} } },
    problems: ["precondition-failed", "route-conflicts"],
  },
} as const satisfies DescribedRoute;

interface Described {
  description: string;
  parameters: { name: string; in: string; required?: boolean }[];
  responses: Record<string, object>;
  security: object[];
}

function operation(routes: readonly DescribedRoute[], method: string): Described {
  const { paths } = buildDocument(routes, VERSION);
  return paths["/v1/things/{owner}/{thing}"]?.[method] as unknown as Described;
}

describe("the document of the whole API", () => {
  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const document = buildDocument(ALL_ROUTES, VERSION);
    const result = await validator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, validator.version]).toEqual([true, "3.1"]);
  });

  test("describes the request of every kind of webhook event", () => {
    const { webhooks } = buildDocument(ALL_ROUTES, VERSION);
    expect(Object.keys(webhooks)).toEqual(WEBHOOK_EVENT_KINDS);
    expect(JSON.stringify(webhooks["company-funnel-stage-changed"])).toContain('"old_stage"');
  });

  test.each(WEBHOOK_EVENT_KINDS)("has an example of %s that is as its schema says", (kind) => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      formats: { uuid: true, date: true, "date-time": true },
    });
    const isValid = ajv.compile(webhookEventSchema(kind));
    const example = exampleEvent(kind);
    expect([isValid(example), isValid.errors]).toEqual([true, null]);
    const described = Object.keys(webhookEventSchema(kind).properties.data.properties);
    expect(described).toEqual(expect.arrayContaining(Object.keys(example.data)));
  });

  test("has the paths of the service itself, without a token", () => {
    const { paths } = buildDocument(ALL_ROUTES, VERSION);
    const open = ["/healthz", "/readyz", "/openapi.json", "/docs"];
    expect(open.map((path) => paths[path]?.["get"]?.["security"])).toEqual([[], [], [], []]);
  });

  test("begins with the everyday sections and ends with the service itself", () => {
    const { tags } = buildDocument(ALL_ROUTES, VERSION) as unknown as { tags: { name: string }[] };
    const names = tags.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(["Packages", "Imports", "Exports", "Statistics"]);
    expect(names.at(-1)).toBe("Service");
    expect(new Set(names).size).toBe(names.length);
  });

  test("holds together: every reference leads somewhere", () => {
    const text = JSON.stringify(buildDocument(ALL_ROUTES, VERSION));
    const { components } = JSON.parse(text) as { components: Record<string, Record<string, object>> };
    const missing = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].filter(
      ([, kind = "", name = ""]) => components[kind]?.[name] === undefined,
    );
    expect(missing).toEqual([]);
  });
});

test("the server is the public URL where there is one, else the document's own place", () => {
  const publicUrl = "https://stats.example/tools";
  expect(buildDocument([READ], { ...VERSION, publicUrl })).toMatchObject({ servers: [{ url: publicUrl }] });
  expect(buildDocument([READ], VERSION)).toMatchObject({ servers: [{ url: "." }] });
});

describe("an operation", () => {
  test("has its path's parameters, all required, in OpenAPI's spelling", () => {
    const { parameters } = operation([READ], "get");
    expect(parameters).toMatchObject([
      { name: "owner", in: "path", required: true },
      { name: "thing", in: "path", required: true },
      { name: "If-None-Match", in: "header" },
    ]);
  });

  test("says which scope a token needs", () => {
    expect(operation([READ], "get").description).toContain("`read`");
    expect(operation([READ, UPDATE], "put").description).toContain("`manage`");
    expect(operation([READ], "get").security).toEqual([{ token: [] }]);
  });

  test("groups its problems by status", () => {
    expect(operation([UPDATE], "put").responses).toMatchObject({
      400: { $ref: "#/components/responses/InvalidQueryOrMalformedJsonOrMalformedRequest" },
      403: { $ref: "#/components/responses/ForbiddenOrOutOfScope" },
      412: { $ref: "#/components/responses/PreconditionFailed" },
      422: { $ref: "#/components/responses/InvalidBodyOrRouteConflicts" },
    });
  });

  test("takes If-Match where it can answer that the state is another", () => {
    const names = operation([UPDATE], "put").parameters.map(({ name }) => name);
    expect(names).toEqual(["owner", "thing", "If-Match"]);
  });

  test("is described under the first of its paths, which names the others", () => {
    const both = { ...READ, path: ["/v1/things/:owner/:thing", "/v1/things/:owner/of/:thing"] };
    expect(operation([both], "get").description).toContain("`/v1/things/{owner}/of/{thing}`");
  });
});

describe("schemas", () => {
  test("with a title are components, from the objects that validate", () => {
    const { paths, components } = buildDocument([READ], VERSION);
    expect(JSON.stringify(paths)).toContain('"schema":{"$ref":"#/components/schemas/Thing"}');
    expect(components["schemas"]).toMatchObject({ Thing: { title: "Thing", type: "object" } });
  });

  test("say in words what formats of our own accept", () => {
    const body = { schema: ORGANIZATION_UPSERT, example: {} };
    const { components } = buildDocument([{ ...UPDATE, operation: { ...UPDATE.operation, body } }], VERSION);
    expect(components["schemas"]).toMatchObject({
      OrganizationUpsertV1: {
        properties: {
          name: { description: expect.stringContaining("1 to 64 letters") as string },
          billingEmail: { format: "email" },
        },
      },
    });
  });
});

describe("routes that contradict each other are an error:", () => {
  const other = { ...READ, operation: { ...READ.operation, id: "other" } };
  test.each<[string, DescribedRoute]>([
    ["two of one id", { ...READ, path: "/v1/elsewhere" }],
    ["one path with two names", { ...other, method: "PUT", path: "/v1/things/:owner/:id" }],
    [
      "two schemas of one title",
      {
        ...other,
        path: "/v1/elsewhere",
        operation: { ...other.operation, answers: { 200: { description: "", schema: { ...THING } } } },
      },
    ],
  ])("%s", (_, wrong) => {
    expect(() => buildDocument([READ, wrong], VERSION)).toThrow();
  });
});
