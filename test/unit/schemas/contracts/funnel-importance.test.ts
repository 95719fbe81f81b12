import { expect, test } from "vitest";
import { parseFunnelImportance } from "../../../../schemas/contracts/funnel-importance.js";

const ID = "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27";
const OTHER = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";

test("ids are read in lower case", () => {
  const body = { packages: [{ id: ID.toUpperCase(), importance: "high" }], pixels: [] };
  expect(parseFunnelImportance(body).packages).toEqual([{ id: ID, importance: "high" }]);
});

test("a name that is given twice is refused, each time after the first, whatever its case", () => {
  const packages = [ID, OTHER, ID.toUpperCase(), ID].map((id) => ({ id, importance: "low" }));
  const message = "is named twice";
  const errors = [
    { path: "/packages/2/id", message },
    { path: "/packages/3/id", message },
  ];
  expect(() => parseFunnelImportance({ packages, pixels: [] })).toThrow(expect.objectContaining({ errors }));
});
