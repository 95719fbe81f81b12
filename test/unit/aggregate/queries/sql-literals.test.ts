import { expect, test } from "vitest";
import { textLiteral, uuidsLiteral } from "../../../../aggregate/queries/sql-literals.js";

const ID = "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27";

test.each([
  [[], "CAST([] AS Array(UUID))"],
  [[ID], `CAST(['${ID}'] AS Array(UUID))`],
  [[ID, ID.toUpperCase()], `CAST(['${ID}','${ID.toUpperCase()}'] AS Array(UUID))`],
])("UUIDs %j are %s", (uuids, literal) => {
  expect(uuidsLiteral(uuids)).toBe(literal);
});

test.each(["", "1", `${ID}'`, `${ID}\n`, `'), 1) --`])("%j is no UUID, and comes into no query", (text) => {
  expect(() => uuidsLiteral([ID, text])).toThrow("not a UUID");
});

test("a text comes into a query as digits alone", () => {
  expect(textLiteral("'); größer")).toBe("unhex('27293b206772c3b6c39f6572')");
});
