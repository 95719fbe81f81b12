import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeTemplate,
  expandTemplate,
  variablesOf,
  type UrlTemplate,
} from "../../../../schemas/routing/url-template.js";

interface Group {
  variables: Record<string, unknown>;
  testcases: [template: string, expected: string | false][];
}

function readGroups(file: string): Group[] {
  const text = readFileSync(`test/fixtures/url-template/${file}.json`, "utf8");
  return Object.values(JSON.parse(text) as Record<string, Group>);
}

/** Level 1 and 2: every expression is one name, whose value is text, a number or missing. */
const LEVEL_2 = /^(?:[^{}]|\{\+?\w[\w%.]*\})*$/;

function isOfLevel2([template]: [string, unknown], variables: Group["variables"]): boolean {
  const names = [...template.matchAll(/\{\+?([^{}]*)\}/g)].map(([, name = ""]) => variables[name]);
  return LEVEL_2.test(template) && names.every((value) => value === null || typeof value !== "object");
}

const positive = ["spec-examples", "spec-examples-by-section", "extended-tests"]
  .flatMap(readGroups)
  .flatMap(({ variables, testcases }) =>
    testcases
      .filter((testcase) => isOfLevel2(testcase, variables))
      .map(([template, expected]) => ({ template, expected, variables })),
  );

const negative = readGroups("negative-tests").flatMap(({ testcases }) => testcases);

function templateOf(text: string): UrlTemplate {
  const decoded = decodeTemplate(text);
  expect(decoded).not.toHaveProperty("fault");
  return decoded as UrlTemplate;
}

function valuesOf(variables: Record<string, unknown>): Map<string, string> {
  const known = Object.entries(variables).filter(([, value]) => value !== null && value !== undefined);
  return new Map(known.map(([name, value]) => [name, String(value)]));
}

describe("the public cases of RFC 6570", () => {
  test("are all here: 31 of levels 1 and 2, and 36 that are no templates", () => {
    expect([positive.length, negative.length]).toEqual([31, 36]);
  });

  test.each(positive)("$template expands to $expected", ({ template, expected, variables }) => {
    expect(expandTemplate(templateOf(template), valuesOf(variables))).toBe(expected);
  });

  test.each(negative)("%s is refused with a sentence", (template) => {
    expect(decodeTemplate(template)).toEqual({ fault: expect.stringMatching(/^(can|must|has) /) as string });
  });
});

describe("a template", () => {
  test.each(["{?q}", "{/id}", "{#id}", "{.id}", "{;id}", "{&id}", "{a,b}", "{a*}", "{a:3}", "{}", "{+}"])(
    "is refused when it is of a higher level: %s",
    (text) => {
      expect(decodeTemplate(text)).toEqual({ fault: `can contain {name} and {+name}, but not ${text}` });
    },
  );

  test.each(["a b", 'a"b', "a<b", "a\\b", "a^b", "a`b", "a|b", "a%zb", "a%", "a\0b", "a\nb", "\ud800"])(
    "must not contain what no URL contains: %j",
    (text) => {
      expect(decodeTemplate(text)).toHaveProperty("fault");
    },
  );

  test("names its variables in order", () => {
    expect(variablesOf(templateOf("/{b}/x/{+a}/{b}"))).toEqual(["b", "a", "b"]);
  });

  test("is parsed or refused for any text, and expands to the ASCII characters of a URL", () => {
    const text = fc.string({ unit: fc.constantFrom(..."{}+/%aé2F ?😀\ud800") });
    fc.assert(
      fc.property(text, text, (template, value) => {
        const decoded = decodeTemplate(template);
        const parts = "fault" in decoded ? [] : decoded.parts;
        const values = new Map(variablesOf({ parts }).map((name) => [name, value]));
        expect(expandTemplate({ parts }, values)).toMatch(/^[!#-;=?-[\]_a-z~]*$/);
      }),
    );
  });
});
