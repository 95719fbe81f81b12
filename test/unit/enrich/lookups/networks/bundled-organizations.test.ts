import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  openOrganizations,
  compareAs,
  sharesWord,
  parseOrganizations,
} from "../../../../../enrich/lookups/networks/find-organization.js";
import { assetUrl } from "../../../../../schemas/asset.js";
import { readBundledNetworks } from "../../../../support/networks/bundled-networks.js";

const folder = assetUrl("enrich/data/organizations/");
const files = readdirSync(folder).map((path) => ({
  path,
  rows: parseOrganizations(readFileSync(new URL(path, folder), "utf8"), path),
}));
const rows = files.flatMap((file) => file.rows);
const networks = readBundledNetworks();
const names = new Set(networks.map(({ organization }) => organization));

const repeated = (values: readonly (string | number)[]) =>
  values.filter((value, at) => values.indexOf(value) !== at);

const WELL_KNOWN = [
  [
    "business",
    "boeing.com ge.com goldmansachs.com accenture.com deloitte.com infosys.com tcs.com wipro.com micron.com ti.com " +
      "philips.com asml.com abnamro.com lloydsbankinggroup.com workday.com intuit.com servicenow.com " +
      "paloaltonetworks.com citrix.com bytedance.com zalando.com volvogroup.com ikea.com hyundai.com panasonic.com " +
      "oracle.com sony.com ripe.net",
  ],
  ["education", "cern.ch mpg.de fraunhofer.de mit.edu kit.edu"],
  ["government", "nasa.gov nato.int ec.europa.eu"],
] as const;

/** Every pattern that would match a name. */
function patternsOf(name: string): string[] {
  const { words, core } = compareAs(name);
  const starts = words.map((_, at) => `${words.slice(0, at + 1).join(" ")} *`);
  return [...new Set([words.join(" "), core, ...starts])];
}

describe("the bundled table of organizations", () => {
  it("holds each name, domain, AS number and pattern once", () => {
    expect(repeated(rows.map(({ name }) => name.toLowerCase()))).toEqual([]);
    expect(repeated(rows.map(({ domain }) => domain))).toEqual([]);
    expect(repeated(rows.flatMap(({ numbers }) => numbers))).toEqual([]);
    expect(repeated(rows.flatMap(({ match }) => match))).toEqual([]);
  });

  it("is sorted by name in each file", () => {
    for (const file of files) {
      const written = file.rows.map(({ name }) => name.toLowerCase());
      expect(written).toEqual([...written].sort());
    }
  });

  it("gives each AS number to an organization that the network table names so", () => {
    const nameByNumber = new Map(networks.map(({ asn, organization }) => [asn, organization]));
    const wrong = rows.flatMap((row) => {
      const patterns = openOrganizations([[row]]);
      const isNamed = (name: string) => sharesWord(name, row.name) || patterns.ofName(name) === row;
      return row.numbers
        .map((asn) => nameByNumber.get(asn) ?? "")
        .filter((name) => !isNamed(name))
        .map((name) => [row.name, name]);
    });
    expect(wrong).toEqual([]);
  });

  it("has no pattern without a name in the network table, and no name that two organizations match", () => {
    const ownerOf = new Map(rows.flatMap((row) => row.match.map((pattern) => [pattern, row.name])));
    const unused = new Set(ownerOf.keys());
    const disputed = [...names].flatMap((name) => {
      const patterns = patternsOf(name).filter((pattern) => ownerOf.has(pattern));
      for (const pattern of patterns) unused.delete(pattern);
      const owners = new Set(patterns.map((pattern) => ownerOf.get(pattern)));
      return owners.size > 1 ? [{ name, owners: [...owners] }] : [];
    });
    expect([...unused]).toEqual([]);
    expect(disputed).toEqual([]);
  });
});

describe("lookalikes", () => {
  const [, , ...lines] = readFileSync("test/fixtures/networks/lookalikes.csv", "utf8").trimEnd().split("\n");
  const lookalikes = lines.map((line) => line.split(","));
  const organizations = openOrganizations([rows]);

  it("are at least 150, each of an organization of the table", () => {
    const known = new Set(rows.map(({ name }) => name));
    expect(lookalikes.length).toBeGreaterThanOrEqual(150);
    expect(lookalikes.filter(([, resembles = ""]) => !known.has(resembles))).toEqual([]);
  });

  it("are never taken for what they resemble", () => {
    const taken = lookalikes.filter(
      ([name = "", resembles]) => organizations.ofName(name)?.name === resembles,
    );
    expect(taken).toEqual([]);
  });
});

describe("well-known companies", () => {
  const organizations = openOrganizations([rows]);
  const owners = networks.map(({ asn, organization }) => organizations.ofOwner(asn, organization));
  const kinds = new Map(owners.map((owner) => [owner?.domain, owner?.kind]));

  it.each(WELL_KNOWN)("%s announce networks that are known to be theirs", (kind, domains) => {
    expect(domains.split(" ").filter((domain) => kinds.get(domain) !== kind)).toEqual([]);
  });

  it("are 1,500 and more that announce networks, beside ISPs, hosts and clouds", () => {
    const companies = owners.filter((owner) =>
      ["business", "education", "government"].includes(owner?.kind ?? ""),
    );
    expect(new Set(companies).size).toBeGreaterThanOrEqual(1500);
  });
});
