import { describe, expect, it } from "vitest";
import {
  openOrganizations,
  parseOrganizations,
} from "../../../../../enrich/lookups/networks/find-organization.js";
import { testTable } from "../../../../support/test-table.js";

const ours = parseOrganizations(
  [
    "Acme,acme.example,business,,acme;acme rockets*",
    "Acme Bank,bank.example,business,,acme rockets bank*",
    "Defense,defense.example,government,64500,us department of defense*",
    "AT&T,att.example,isp,,at&t*",
    "Big Cloud,cloud.example,cloud,64501,",
  ].join("\n"),
  "ours.csv",
);
const own = parseOrganizations("Acme (key account),acme.example,business,64501,acme rockets", "own.csv");

describe("a name finds", () => {
  const organizations = openOrganizations([ours]);

  testTable("for %j %s", (name) => organizations.ofName(name)?.name, [
    ["ACME", "Acme"],
    ["Acme, Inc.", "Acme"],
    ["The Acme Company Ltd.", "Acme"],
    ["PT Acme", "Acme"],
    ["Acmé S.p.A.", "Acme"],
    ["Acme Sp. z o.o.", "Acme"],
    ["Acme Rockets", "Acme"],
    ["Acme Rockets Europe GmbH", "Acme"],
    ["Acme Rockets Bank Zürich", "Acme Bank"],
    ["U. S. Department of Defense (DoD)", "Defense"],
    ["AT&T Corp.", "AT&T"],
    ["Acme Europe", undefined],
    ["Acmeville", undefined],
    ["Acme Rocketship", undefined],
    ["New Acme", undefined],
    ["Big Cloud", undefined],
    ["", undefined],
    ["The", undefined],
    ["Inc.", undefined],
  ]);
});

describe("the owner of an AS", () => {
  it("is found by number before name, and by name where the number is unknown", () => {
    const organizations = openOrganizations([ours]);
    expect(organizations.ofOwner(64501, "Acme")?.name).toBe("Big Cloud");
    expect(organizations.ofOwner(64502, "Acme")?.name).toBe("Acme");
    expect(organizations.ofOwner(64502, "Other")).toBeUndefined();
  });

  it("is that of the first table that knows number or name", () => {
    const organizations = openOrganizations([own, ours]);
    expect(organizations.ofOwner(64501, "Big Cloud")?.name).toBe("Acme (key account)");
    expect(organizations.ofOwner(64500, "Acme Rockets")?.name).toBe("Acme (key account)");
    expect(organizations.ofOwner(64500, "DoD")?.name).toBe("Defense");
    expect(organizations.ofName("Acme Rockets")?.name).toBe("Acme (key account)");
    expect(organizations.ofName("Acme")?.name).toBe("Acme");
  });
});

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
    expect(() => parse(line)).toThrow("mine.csv: line 3 must be name,domain,kind,numbers,match");
  });
});
