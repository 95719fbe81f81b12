import { loadBundledOrganizations } from "../../../enrich/lookups/load-lookup-data.js";
import { describeNetwork } from "../../../enrich/lookups/networks/open-networks.js";
import { openOrganizations } from "../../../enrich/lookups/networks/find-organization.js";
import { NO_FACTS } from "../../../enrich/lookups/networks/network-facts.js";
import { readBundledNetworks, type BundledNetwork } from "./bundled-networks.js";

// Prints how much of the bundled table's company space has a domain, and the organizations without one that announce
// most, by addresses or by ranges: npx tsx test/support/networks/print-networks.ts [addresses|ranges] [rows]
const [order = "addresses", rows = "50"] = process.argv.slice(2);
if (order !== "addresses" && order !== "ranges") throw new Error("the order is addresses or ranges");

const COMPANY_TYPES = ["business", "education", "government"];
const organizations = openOrganizations([await loadBundledOrganizations()]);
const described = readBundledNetworks().map((network) => {
  const facts = { ...NO_FACTS, asn: network.asn, asOrganization: network.organization };
  return { ...network, ...describeNetwork(facts, organizations) };
});
const companies = described.filter(({ connectionType }) => COMPANY_TYPES.includes(connectionType));
const named = companies.filter(({ companyDomain }) => companyDomain !== "");
const share = (of: "addresses" | "ranges") =>
  `${((100 * sum(named, of)) / sum(companies, of)).toFixed(1)} % of ${of}`;
console.log(`Neither ISP, hosting nor cloud, with a domain: ${share("addresses")}, ${share("ranges")}`);
console.log(`${new Set(named.map(({ companyDomain }) => companyDomain)).size} domains`);

const unnamed = new Map<string, { addresses: number; ranges: number }>();
for (const { company, companyDomain, addresses, ranges } of companies) {
  if (companyDomain !== "") continue;
  const before = unnamed.get(company) ?? { addresses: 0, ranges: 0 };
  unnamed.set(company, { addresses: before.addresses + addresses, ranges: before.ranges + ranges });
}
const largest = [...unnamed].sort(([, one], [, other]) => other[order] - one[order]).slice(0, Number(rows));
for (const [name, { addresses, ranges }] of largest) console.log([addresses, ranges, name].join("\t"));

function sum(networks: readonly BundledNetwork[], of: "addresses" | "ranges"): number {
  return networks.reduce((total, network) => total + network[of], 0);
}
