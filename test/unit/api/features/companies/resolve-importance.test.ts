import { expect, test } from "vitest";
import { resolveImportance } from "../../../../../api/features/companies/importance-routes.js";

const WEB = "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27";
const TOOL = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";
const OTHER_TOOL = "01a1fbad-cab4-710c-82a1-b3f3576e59e5";

const importance = "medium" as const;
const KNOWN = {
  packages: [
    { id: WEB, name: "web", importance },
    { id: TOOL, name: "tool", importance },
    { id: OTHER_TOOL, name: "tool", importance },
  ],
  pixels: [{ id: TOOL, name: WEB, importance }],
};

const sent = (of: "packages" | "pixels", ...ids: string[]) => {
  const items = ids.map((id) => ({ id, importance: "low" as const }));
  return { packages: [], pixels: [], [of]: items };
};
const idsOf = (of: "packages" | "pixels", ...ids: string[]) =>
  resolveImportance(sent(of, ...ids), KNOWN, "acme")[of].map(({ id }) => id);

test("ids are found in any case, and names as they are written", () => {
  expect(idsOf("packages", TOOL.toUpperCase(), "web")).toEqual([TOOL, WEB]);
  expect(idsOf("pixels", WEB)).toEqual([TOOL]);
});

const fault = (at: number, message: string) => ({
  path: `/packages/${at}/id`,
  message: expect.stringContaining(message) as string,
});

test.each<[string, string[], object[]]>([
  ["a name that several have", ["tool"], [fault(0, "use the id")]],
  ["a name in another case", ["Web"], [fault(0, "is not one of the packages of acme")]],
  [
    "one that is named twice, by its id and its name, each time after the first",
    [WEB, TOOL, "web", WEB.toUpperCase()],
    [fault(2, "is listed twice"), fault(3, "is listed twice")],
  ],
])("%s is refused", (_, ids, errors) => {
  expect(() => idsOf("packages", ...ids)).toThrow(expect.objectContaining({ code: "invalid-body", errors }));
});
