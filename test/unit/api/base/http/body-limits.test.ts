import { describe, expect, test } from "vitest";
import { MIB, requireFewFields, requireFewValues } from "../../../../../api/base/http/body-limits.js";
import type { JsonSchema } from "../../../../../api/base/http/answers/query-parameters.js";
import { bodyLimitsOf } from "../../../../../api/base/http/route.js";
import { ALL_ROUTES } from "../../../../support/api/all-routes.js";

interface Size {
  bytes: number;
  values: number;
}

/** What a text of a format has at most. */
const LENGTHS: Record<string, number> = { date: 10, uuid: 36, "owner-name": 64, "e-mail": 254 };

/** Of the largest body that a schema accepts, where a program escapes every letter beyond ASCII, as Python does. */
function largestOf(schema: JsonSchema): Size {
  const { oneOf, enum: words, format = "", properties = {} } = schema as { [name: string]: never };
  if (oneOf !== undefined) return (oneOf as JsonSchema[]).map(largestOf).reduce(larger);
  if (words !== undefined) return { bytes: Math.max(...(words as string[]).map(lengthOf)), values: 1 };
  const [type = ""] = [schema["type"] as string | string[]].flat();
  switch (type) {
    case "string": {
      const length = (schema["maxLength"] ?? LENGTHS[format] ?? patternLength(schema)) as number;
      return { bytes: 2 + 6 * length, values: 1 };
    }
    case "array": {
      const items = largestOf(schema["items"] as JsonSchema);
      const words = (schema["items"] as { enum?: string[] }).enum;
      const count = (schema["maxItems"] ?? words?.length) as number;
      return { bytes: 2 + count * (items.bytes + 1), values: 1 + count * items.values };
    }
    case "object":
      return Object.entries(properties as Record<string, JsonSchema>)
        .map(([name, each]) => [name, largestOf(each)] as const)
        .reduce(
          (all, [name, { bytes, values }]) => ({
            bytes: all.bytes + name.length + 4 + bytes,
            values: all.values + values,
          }),
          { bytes: 2, values: 1 },
        );
    default:
      return { bytes: 24, values: 1 };
  }
}

const lengthOf = (word: string | null) => JSON.stringify(word).length;
const larger = (one: Size, other: Size) => (one.values > other.values ? one : other);
const patternLength = ({ pattern }: JsonSchema) => Number(/\{(\d+)\}\$$/.exec(String(pattern))?.[1]);

const OF_OTHERS = ["addGithubRelease", "askForAssistant"];
const WITH_BODY = ALL_ROUTES.map(({ operation }) => operation)
  .filter(({ body, id }) => body !== undefined && body.types === undefined && !OF_OTHERS.includes(id))
  .map((operation) => [operation.id, operation] as const);

test.each(WITH_BODY)("%s takes the largest body that its schema accepts, up to 1 MiB", (_, operation) => {
  const { bytesMax, valuesMax } = bodyLimitsOf(operation);
  const largest = largestOf(operation.body?.schema ?? {});
  expect(largest.bytes).toBeGreaterThan(0);
  expect(bytesMax).toBeGreaterThanOrEqual(Math.min(MIB, largest.bytes));
  expect(valuesMax).toBeGreaterThanOrEqual(largest.values);
  expect(bytesMax).toBeLessThanOrEqual(MIB);
});

describe("the values of JSON", () => {
  const check = (json: string, valuesMax: number) => () => requireFewValues(Buffer.from(json), { valuesMax });

  test.each<[string, number]>([
    ["1", 1],
    ["{}", 2],
    ['{"a":1,"b":[1,2,{"c":null}]}', 7],
    ['["a,b",{"[{":",]"},"\\",[\\\\",",\\"{"]', 6],
    ['"\\', 1],
    ['["', 2],
  ])("%s has at most %i", (json, values) => {
    expect(check(json, values)).not.toThrow();
    expect(check(json, values - 1)).toThrow(`The body has more than ${values - 1} values.`);
  });

  test("are nested in 32 levels at most", () => {
    expect(check("[".repeat(32) + "]".repeat(32), 100)).not.toThrow();
    expect(check('{"a":'.repeat(33), 100)).toThrow("The body is nested more than 32 levels deep.");
  });
});

test("the fields of a form are counted before they are read", () => {
  const check = (form: string) => () => requireFewFields(Buffer.from(form), { valuesMax: 3, separator: "&" });
  expect(check("a=1&b=2&c=3")).not.toThrow();
  expect(check("a&a&a&a")).toThrow("The body has more than 3 fields.");
});
