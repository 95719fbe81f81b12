import fc from "fast-check";
import { hostileText, sometimesDamaged } from "../values.js";

/** A schema of the OpenAPI document. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  format?: string;
  oneOf?: readonly Schema[];
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: readonly string[];
}

/** Finds the schema that a reference names. */
export type Resolve = (ref: string) => Schema;

const ITEMS_MAX = 3;

/** Values that a schema describes, and now and then one that it does not. */
export function valuesOf(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 15, arbitrary: described(schema, resolve) },
    { weight: 1, arbitrary: fc.oneof(hostileText, fc.jsonValue({ maxDepth: 2 })) },
  );
}

function described(schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return described(resolve(schema.$ref), resolve);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map((each) => described(each, resolve)));
  const types = [schema.type ?? []].flat();
  return fc.oneof(
    ...types.map((type) => ofType(type, schema, resolve)),
    ...(types.length === 0 ? [hostileText] : []),
  );
}

function ofType(type: string, schema: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.oneof(fc.integer({ min: -1, max: 1001 }), fc.double());
    case "array":
      return fc.array(valuesOf(schema.items ?? {}, resolve), { maxLength: ITEMS_MAX });
    case "object":
      return objectsOf(schema, resolve);
    default:
      return textsOf(schema.format);
  }
}

function objectsOf({ properties = {}, required = [] }: Schema, resolve: Resolve): fc.Arbitrary<unknown> {
  const values = Object.entries(properties).map(([name, each]) => [name, valuesOf(each, resolve)] as const);
  const known = fc.record(Object.fromEntries(values), { requiredKeys: [...required] });
  const other = fc.dictionary(hostileText, hostileText, { maxKeys: 1 });
  return fc.oneof(
    { weight: 12, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, other).map((parts) => Object.assign({}, ...parts)) },
    { weight: 1, arbitrary: fc.record(Object.fromEntries(values), { requiredKeys: [] }) },
  );
}

/** None that leads to another machine. */
const urls = sometimesDamaged(
  fc.constantFrom(
    ...[
      "https://host.invalid/team/image",
      "http://localhost:9/hook",
      "https://host.invalid/simple/",
      "ftp://host.invalid",
    ],
    ...[
      "https://host.invalid/{version}/{+file}",
      "http://[::1]:9/",
      "//host.invalid",
      "https://user:word@host.invalid/",
    ],
  ),
);

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  uuid: fc.uuid(),
  date: sometimesDamaged(
    fc.constantFrom("2025-03-01", "2025-04-01", "2024-02-29", "2025-02-29", "0000-00-00", "9999-12-31"),
  ),
  email: sometimesDamaged(fc.constantFrom("ada@example.org", '"a b"@example.org', "a@b", "ä@example.org")),
  website: urls,
};

const plainText = fc.oneof(
  urls,
  fc.constantFrom(
    "/{version}/{+file}",
    "/a/{b}?os={os}",
    "get.host.invalid",
    "xn--nxasmq6b",
    "*.host.invalid",
    "total,country",
  ),
  hostileText,
  fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/),
);

function textsOf(format = ""): fc.Arbitrary<string> {
  return FORMATS[format] ?? plainText;
}
