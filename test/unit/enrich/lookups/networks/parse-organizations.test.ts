import { describe, expect, it } from "vitest";
import { parseOrganizations } from "../../../../../enrich/lookups/networks/find-organization.js";

const HEADER = "# comment\nname,domain,kind,numbers,match\n";
const parse = (line: string) => parseOrganizations(`${HEADER}${line}\n`, "mine.csv");

describe("parseOrganizations", () => {
  it.each([
    ["Acme,acme.example,business,,", [], ["acme"]],
    ["The Acme Company,acme.example,business,,", [], ["acme"]],
    ["Acme,acme.example,business,1 22,", [1, 22], []],
    ["Acme,acme.example,business,1,acme", [1], ["acme"]],
    [
      "Acme,acme.example,business,,Acme*;A.C.M.E. & Söhne;acme inc",
      [],
      ["acme *", "acme and sohne", "acme inc"],
    ],
    ["Acme,acme.example,business", [], ["acme"]],
    ["Acme , acme.example , business , , \r", [], ["acme"]],
  ])("reads %j", (line, numbers, match) => {
    const name = line.split(",")[0]!.trim();
    expect(parse(line)).toEqual([{ name, domain: "acme.example", kind: "business", numbers, match }]);
  });

  it.each([
    "Google,google.com,search,,",
    "Google,google,business,,",
    "Google,,business,,",
    ",google.com,business,,",
    "Google,google.com,business,x,",
    "Google,google.com,business,15169,google;",
    "Google,google.com,business,15169,*",
    '"Google, Inc.",google.com,business,,',
    "Google,google.com,business,,google,more",
    "Google",
  ])("refuses %j, naming the file and the line", (line) => {
    expect(() => parse(line)).toThrow("mine.csv: line 3 is not name,domain,kind,numbers,match");
  });
});
