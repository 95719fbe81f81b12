import { expect, test } from "vitest";
import { parseQuery } from "../../../../../../api/base/http/middleware/query.js";
import { testTable } from "../../../../../support/test-table.js";

testTable("%j is parsed as Koa does", parseQuery, [
  ["", {}],
  ["a=1&b=2&a=3&c", { a: ["1", "3"], b: "2", c: "" }],
  ["a=%zz&%C3%A9=+", { a: "%zz", é: " " }],
]);

test("a name of JavaScript's own is a name like any other", () => {
  const query = parseQuery("__proto__=1&constructor=2&__proto__=3");
  expect(Object.entries(query)).toEqual([
    ["__proto__", ["1", "3"]],
    ["constructor", "2"],
  ]);
});
