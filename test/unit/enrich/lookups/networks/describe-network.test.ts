import { describe, expect, it } from "vitest";
import { describeNetwork } from "../../../../../enrich/lookups/networks/open-networks.js";
import { openOrganizations } from "../../../../../enrich/lookups/networks/find-organization.js";
import { NO_FACTS, type NetworkFacts } from "../../../../../enrich/lookups/networks/network-facts.js";
import { UNKNOWN_NETWORK, type Network } from "../../../../../schemas/records/enriched-event.js";

const organizations = openOrganizations([
  [
    { name: "Big Cloud", domain: "big.example", kind: "cloud", numbers: [1], match: [] },
    { name: "Access", domain: "access.example", kind: "isp", numbers: [2], match: ["verizon *"] },
    { name: "Acme", domain: "acme.example", kind: "business", numbers: [3], match: [] },
    { name: "State University", domain: "state.edu", kind: "education", numbers: [4], match: [] },
    { name: "Cheap Hosting", domain: "cheap.example", kind: "hosting", numbers: [5], match: [] },
    { name: "Ministry", domain: "ministry.example", kind: "government", numbers: [6], match: [] },
  ],
]);

/** The owner of each AS number above, under the name that an ASN database has for it. */
const CLOUD = { asn: 1, asOrganization: "Big Cloud, Inc." };
const ISP = { asn: 2, asOrganization: "Verizon Business" };
const BUSINESS = { asn: 3, asOrganization: "ACME CORP" };
const UNLISTED = { asn: 99, asOrganization: "Widgets Ltd" };
const UNLISTED_ISP = { asn: 98, asOrganization: "Valley Telecom Ltda" };

const isp = { connectionType: "ISP" };
const acme = { company: "Acme", companyDomain: "acme.example", connectionType: "business" };
const bigCloud = {
  connectionType: "cloud provider",
  cloudProvider: "Big Cloud",
  cloudProviderDomain: "big.example",
};

const ofKind = (connectionType: string, name: string, domain = ""): Partial<Network> => ({
  company: name,
  companyDomain: domain,
  connectionType,
});

const cases: [string, Partial<NetworkFacts>, Partial<Network>][] = [
  ["nothing known", {}, {}],
  // Only the owner is known.
  ["a cloud", CLOUD, bigCloud],
  ["an ISP", ISP, isp],
  ["a host", { asn: 5, asOrganization: "Cheap" }, { connectionType: "hosting" }],
  ["a company", BUSINESS, acme],
  [
    "a university",
    { asn: 4, asOrganization: "State U" },
    ofKind("education", "State University", "state.edu"),
  ],
  ["a government", { asn: 6, asOrganization: "MIN" }, ofKind("government", "Ministry", "ministry.example")],
  ["an unlisted company", UNLISTED, ofKind("business", "Widgets Ltd")],
  [
    "an unlisted company with a domain",
    { ...UNLISTED, asDomain: "widgets.example" },
    ofKind("business", "Widgets Ltd", "widgets.example"),
  ],
  ["an unlisted ISP", { ...UNLISTED_ISP, asDomain: "valley.example" }, isp],
  // ISP form: who uses the network may be a customer of the ISP.
  [
    "a customer of an ISP",
    { ...ISP, isp: "Verizon", organization: "Lariat Software" },
    ofKind("business", "Lariat Software"),
  ],
  ["an ISP's own network", { ...ISP, isp: "Verizon", organization: "Verizon" }, isp],
  ["an ISP without an AS number", { isp: "Finecom" }, isp],
  ["a company that announces its own network", { ...BUSINESS, isp: "Acme", organization: "Acme" }, acme],
  [
    "a cloud under another of its names",
    { ...CLOUD, isp: "Big Cloud", organization: "Big Cloud EU" },
    bigCloud,
  ],
  [
    "a university at an ISP",
    { ...ISP, isp: "Verizon", organization: "Example College" },
    ofKind("education", "Example College"),
  ],
  // Enterprise and IPinfo's company form: the type is said outright.
  ["a residential line of a company", { ...BUSINESS, kind: "isp" }, isp],
  [
    "a government office at an ISP",
    { ...ISP, kind: "government", organization: "Bevtec", isp: "Verizon", domain: "bevtec.example" },
    ofKind("government", "Bevtec", "bevtec.example"),
  ],
  ["a business at an ISP, without a name", { ...ISP, kind: "business" }, { connectionType: "business" }],
  ["hosting at a cloud", { ...CLOUD, kind: "hosting" }, bigCloud],
  [
    "hosting elsewhere",
    { ...UNLISTED, kind: "hosting", organization: "Some Host" },
    { connectionType: "hosting" },
  ],
  // Connection-Type form.
  ["a consumer's line", { ...CLOUD, line: "isp" }, isp],
  ["a company's line at an ISP", { ...ISP, line: "business" }, { connectionType: "business" }],
  ["a company's line at nobody known", { line: "business" }, { connectionType: "business" }],
  ["a company's line at a cloud", { ...CLOUD, line: "business" }, bigCloud],
  // Domain form.
  ["a company's other domain", { ...BUSINESS, domain: "acme.net" }, { ...acme, companyDomain: "acme.net" }],
  ["a domain of an unknown network", { domain: "acme.net" }, ofKind("", "acme.net", "acme.net")],
  ["an ISP's domain", { ...ISP, domain: "verizon.net" }, isp],
];

describe("describeNetwork", () => {
  it.each(cases)("describes %s", (_name, facts, network) => {
    const described = describeNetwork({ ...NO_FACTS, ...facts }, organizations);
    expect(described).toEqual({ ...UNKNOWN_NETWORK, ...network });
    expect(Object.isFrozen(described)).toBe(true);
  });
});
