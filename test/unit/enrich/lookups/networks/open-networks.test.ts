import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openNetworks } from "../../../../../enrich/lookups/networks/open-networks.js";
import { parseAsnCsv } from "../../../../../enrich/lookups/networks/parse-asn-csv.js";
import type { Organization } from "../../../../../enrich/lookups/networks/find-organization.js";
import { UNKNOWN_NETWORK } from "../../../../../schemas/records/enriched-event.js";
import { expectedNetworks, fixturePath } from "../mmdb-fixtures.js";
import { testTable } from "../../../../support/test-table.js";

const organizations: Organization[] = [
  { name: "Google", domain: "google.com", kind: "business", numbers: [15169], match: [] },
  { name: "Telstra", domain: "telstra.com.au", kind: "isp", numbers: [1221], match: [] },
];

const table = parseAsnCsv([
  {
    path: "asn.csv",
    bytes: Buffer.from(
      "1.2.0.0,1.2.255.255,15169,Google LLC\n71.160.0.0,71.160.255.255,1221,Telstra Limited\n",
    ),
  },
]);

function mmdb(name: string) {
  return { path: name, bytes: readFileSync(fixturePath(`${name}.mmdb`)) };
}

function open({ asn, company }: { asn?: string; company?: string }) {
  const source = asn === undefined ? { table } : { mmdb: mmdb(asn) };
  return openNetworks({
    organizations: [organizations],
    asn: source,
    company: company === undefined ? undefined : mmdb(company),
  });
}

const google = {
  company: "Google",
  companyDomain: "google.com",
  connectionType: "business",
  cloudProvider: "",
  cloudProviderDomain: "",
};
const isp = { ...UNKNOWN_NETWORK, connectionType: "ISP" };
const business = { ...UNKNOWN_NETWORK, connectionType: "business" };
const government = { ...UNKNOWN_NETWORK, connectionType: "government" };
const bevtec = { ...government, company: "Bevtec", companyDomain: "bredband2.com" };

describe("an ASN database", () => {
  testTable("in the form of a CSV says whose network %j is in", (address) => open({}).of(address), [
    ["1.2.3.4", google],
    ["::ffff:1.2.3.4", google],
    ["71.160.1.1", isp],
    ["9.9.9.9", UNKNOWN_NETWORK],
    ["", UNKNOWN_NETWORK],
  ]);

  it.each([
    ["GeoLite2-ASN-Test", "1.0.0.1", google],
    ["GeoLite2-ASN-Test", "1.128.0.1", isp],
    ["GeoIP2-ISP-Test", "1.128.0.1", isp],
    ["GeoLite2-ASN-Test", "127.0.0.1", UNKNOWN_NETWORK],
  ])("in the form of %s says whose network %s is in", (asn, address, network) => {
    expect(open({ asn }).of(address)).toEqual(network);
  });

  it("gives the same frozen object for all addresses of one owner", () => {
    const networks = open({});
    expect(networks.of("1.2.3.4")).toBe(networks.of("1.2.200.9"));
    expect(Object.isFrozen(networks.of("1.2.3.4"))).toBe(true);
  });
});

describe("a company database comes before the owner of the network", () => {
  it.each([
    ["GeoIP2-Domain-Test", "1.2.3.4", { ...google, companyDomain: "maxmind.com" }],
    ["GeoIP2-Domain-Test", "71.160.223.1", isp],
    ["GeoIP2-Connection-Type-Test", "1.0.1.1", isp],
    ["GeoIP2-Connection-Type-Test", "201.243.200.1", business],
    ["GeoIP2-Enterprise-Test", "74.209.24.1", isp],
    ["GeoIP2-Enterprise-Test", "89.160.20.112", bevtec],
    ["GeoIP2-Enterprise-Test", "214.214.214.220", { ...UNKNOWN_NETWORK, connectionType: "hosting" }],
    ["GeoIP2-ISP-Test", "8.33.16.1", { ...business, company: "Co-Mo Connect" }],
    ["GeoIP2-ISP-Test", "5.145.96.1", isp],
    ["GeoIP2-ISP-Test", "9.9.9.9", UNKNOWN_NETWORK],
  ])("%s for %s", (company, address, network) => {
    expect(open({ company }).of(address)).toEqual(network);
  });

  it("and leaves the owner where it says nothing", () => {
    expect(open({ company: "GeoIP2-ISP-Test" }).of("1.2.3.4")).toEqual(google);
  });

  it("with a consumer's line for every line that is not a company's", () => {
    const networks = open({ company: "GeoIP2-Connection-Type-Test" });
    const expected = expectedNetworks("GeoIP2-Connection-Type-Test");
    expect(expected.map(({ addresses }) => networks.of(addresses[1]).connectionType)).toEqual(
      expected.map(({ record }) => ({ Corporate: "business" })[record["connection_type"] as string] ?? "ISP"),
    );
  });

  it("with MaxMind's domain, unless it is that of the reverse zone, where no provider is known to own the address", () => {
    const networks = open({ company: "GeoIP2-Domain-Test" });
    const expected = expectedNetworks("GeoIP2-Domain-Test").filter(
      ({ network }) => !network.startsWith("::71."),
    );
    expect(expected.map(({ addresses }) => networks.of(addresses[0]).companyDomain)).toEqual(
      expected.map(({ record }) => (record["domain"] as string).toLowerCase().replace("in-addr.arpa", "")),
    );
  });
});
