import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LineFault } from "../../../../enrich/lines/line-fault.js";
import { fieldsOf, type LineObject } from "../../../../enrich/lines/decode-line.js";
import { readVariables } from "../../../../enrich/lines/read-variables.js";

function read(line: object): { variables: string[]; warnings: LineFault[] } {
  const warnings: LineFault[] = [];
  return { variables: readVariables(fieldsOf(line as LineObject), warnings), warnings };
}

const textOf = (bytes: number) => "x".repeat(bytes);

describe("readVariables", () => {
  test.each([
    ["text", { a: "b", c: "" }, ["a", "b", "c", ""]],
    ["numbers", { a: 1, b: -1.5, c: 1e21 }, ["a", "1", "b", "-1.5", "c", "1e+21"]],
    ["true and false", { a: true, b: false }, ["a", "true", "b", "false"]],
    ["null", { a: null }, ["a", "null"]],
    ["arrays", { a: [1, "b", { c: null }] }, ["a", '[1,"b",{"c":null}]']],
    ["nested objects", { a: { b: 1, c: { d: [] } } }, ["a.b", "1", "a.c.d", "[]"]],
    ["empty objects", { a: {}, b: { c: {} } }, []],
    ["known keys", { $time: 1, a: 1 }, ["a", "1"]],
    ["nested keys with a $", { a: { $time: 1 } }, ["a.$time", "1"]],
    ["line ends and NUL", { "a\nb": "c\r\0d" }, ["a b", "c  d"]],
    ["an empty name", { "": 1 }, ["", "1"]],
    ["names of every object", { constructor: 1, toString: 2 }, ["constructor", "1", "toString", "2"]],
  ])("reads %s", (_, line, variables) => {
    expect(read(line)).toEqual({ variables, warnings: [] });
  });

  test("reads a name of __proto__ as any other", () => {
    const line = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}') as object;
    expect(read(line).variables).toEqual(["__proto__.a", "1", "b.__proto__", "2"]);
  });

  test.each([
    ["flattened", { "a.b": 1, a: { b: 2 } }, ["a.b", "2"]],
    ["cleaned", { "a\nb": 1, c: 0, "a b": 2 }, ["a b", "2", "c", "0"]],
  ])("takes the later of two names that are equal once %s", (_, line, variables) => {
    expect(read(line)).toEqual({ variables, warnings: [] });
  });

  test("takes 64 variables and tells of the rest in one warning", () => {
    const line = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`v${n}`, n]));
    const { variables, warnings } = read(line);
    expect(variables).toHaveLength(128);
    expect(variables.slice(-2)).toEqual(["v63", "63"]);
    expect(warnings).toEqual([
      { class: "warning", type: "invalid-value", message: "More than 64 variables: 6 were dropped" },
    ]);
  });

  test.each([
    ["a value of 1 KiB", { a: textOf(1024) }, 1],
    ["a longer value", { a: textOf(1025) }, 0],
    ["a value of more bytes than characters", { a: "é".repeat(513) }, 0],
    ["a longer array", { a: [textOf(1021)] }, 0],
    ["a name of 1 KiB", { [textOf(1024)]: 1 }, 1],
    ["a longer name", { [textOf(1025)]: 1 }, 0],
    ["a nested name that is longer", { [textOf(1000)]: { [textOf(24)]: 1 } }, 0],
  ])("takes or leaves out %s", (_, line, taken) => {
    const { variables, warnings } = read({ ...line, next: 1 });
    expect(variables).toHaveLength(taken * 2 + 2);
    expect(warnings.map(({ type }) => type)).toEqual(Array(1 - taken).fill("invalid-value"));
  });

  test("writes as JSON what is nested deeper than it follows", () => {
    const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + "1" + "}".repeat(depth));
    expect(read(nested(33) as object).variables).toEqual([Array(33).fill("a").join("."), "1"]);
    expect(read(nested(35) as object).variables).toEqual([Array(33).fill("a").join("."), '{"a":{"a":1}}']);
  });

  test.each(["[", '{"a":'])("leaves out what is nested deeper than the stack (%s)", (open) => {
    const close = open === "[" ? "]" : "}";
    const deep: unknown = JSON.parse(
      open.repeat(100_000) + (open === "[" ? "" : "1") + close.repeat(100_000),
    );
    const { variables, warnings } = read({ deep, next: 1 });
    expect(variables).toEqual(["next", "1"]);
    expect(warnings).toHaveLength(1);
  });

  test("writes at most 64 warnings of one line", () => {
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`$${n}`, n]));
    const long = { [textOf(1025)]: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`v${n}`, n])) };
    expect(read(unknown).warnings).toHaveLength(64);
    expect(read(long).warnings).toHaveLength(64);
  });

  test("gives names once, with texts of at most 1 KiB and without line ends, for any object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (line) => {
        const { variables } = read(line);
        const names = variables.filter((_, index) => index % 2 === 0);
        expect(new Set(names).size).toBe(names.length);
        expect(variables.every((text) => !/[\r\n\0]/.test(text) && Buffer.byteLength(text) <= 1024)).toBe(
          true,
        );
        expect(variables.length).toBeLessThanOrEqual(128);
      }),
    );
  });
});
