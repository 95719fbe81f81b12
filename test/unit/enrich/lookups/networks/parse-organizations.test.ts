import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { beforeAll, describe, expect, it } from "vitest";
import { readAsnOwner } from "../../../../../enrich/lookups/networks/asn-table.js";
import { namesOrganization } from "../../../../../enrich/lookups/networks/names-organization.js";
import { parseAsnCsv } from "../../../../../enrich/lookups/networks/parse-asn-csv.js";
import { parseOrganizations } from "../../../../../enrich/lookups/networks/parse-organizations.js";
import { assetUrl } from "../../../../../schemas/asset.js";

const rows = parseOrganizations(readFileSync(assetUrl("enrich/data/organizations.csv"), "utf8"));

describe("the curated table", () => {
  const nameByNumber = new Map<number, string>();

  beforeAll(() => {
    const resolve = createRequire(import.meta.url).resolve;
    const paths = ["asn-ipv4-num.csv", "asn-ipv6.csv"].map((name) => resolve(`@ip-location-db/asn/${name}`));
    const table = parseAsnCsv(paths.map((path) => ({ path, bytes: readFileSync(path) })));
    table.numbers.forEach((asn, owner) => nameByNumber.set(asn, readAsnOwner(table, owner).organization));
  });

  it("names the organization that the ASN database names, in every row", () => {
    const wrong = rows.filter((row) => !namesOrganization(nameByNumber.get(row.asn) ?? "", row));
    expect(wrong.map((row) => ({ ...row, database: nameByNumber.get(row.asn) }))).toEqual([]);
  });

  it("holds at least 400 organizations, and every kind", () => {
    expect(new Set(rows.map((row) => row.name)).size).toBeGreaterThanOrEqual(400);
    expect(new Set(rows.map((row) => row.kind)).size).toBe(6);
  });

  it("holds no AS number twice", () => {
    expect(new Set(rows.map((row) => row.asn)).size).toBe(rows.length);
  });

  it("has a valid domain in every row, and one domain and one kind for one name", () => {
    const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
    const domain = new RegExp(`^(?:${label}\\.)+[a-z]{2,}$`);
    expect(rows.filter((row) => !domain.test(row.domain))).toEqual([]);
    const answers = new Set(rows.map((row) => [row.name, row.domain, row.kind].join()));
    expect(answers.size).toBe(new Set(rows.map((row) => row.name)).size);
  });

  it("has a word to match only where the name does not match by itself", () => {
    const needless = rows.filter(
      (row) => row.match !== "" && namesOrganization(nameByNumber.get(row.asn) ?? "", { ...row, match: "" }),
    );
    expect(needless).toEqual([]);
  });
});

describe("parseOrganizations", () => {
  it.each([
    "15169,Google,google.com,search",
    "x,Google,google.com,business",
    "1,,a.example,isp",
    "1,A,,isp",
    "1",
  ])("refuses %j, naming the line", (line) => {
    expect(() => parseOrganizations(`# comment\nasn,name,domain,kind,match\n${line}\n`)).toThrow("line 3");
  });
});

describe("namesOrganization", () => {
  it.each([
    ["Cloudflare, Inc.", "Cloudflare", ""],
    ["TELEFONICA CHILE S.A.", "Telefónica", ""],
    ["Level 3 Communications, Inc.", "Lumen", "level"],
    ["T-Mobile Polska S.A.", "T-Mobile Poland", "t-mobile"],
  ])("%j can be %s (%s)", (database, name, match) => {
    expect(namesOrganization(database, { name, match })).toBe(true);
  });

  it.each([
    ["Verizon Communications, Inc.", "Level Communications, Inc.", ""],
    ["Acme University", "Other University", ""],
    ["Leveller Ltd", "Lumen", "level"],
    ["", "Lumen", ""],
  ])("%j cannot be %s (%s)", (database, name, match) => {
    expect(namesOrganization(database, { name, match })).toBe(false);
  });
});
