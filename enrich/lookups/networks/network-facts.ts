import { type MmdbRecord, readText } from "../mmdb/open-mmdb.js";

export const ORGANIZATION_KINDS = ["cloud", "hosting", "isp", "business", "education", "government"] as const;
export type OrganizationKind = (typeof ORGANIZATION_KINDS)[number];

/** Facts from databases about the network of an address. 0 and "" mean unknown. */
export interface NetworkFacts {
  asn: number;
  /** Owner of the AS, and its domain. */
  asOrganization: string;
  asDomain: string;
  /** User of the network: a customer of `isp`, or the same name again. */
  organization: string;
  isp: string;
  domain: string;
  kind: OrganizationKind | "";
  /** Access line: for consumers (`isp`) or for companies. */
  line: "isp" | "business" | "";
}

export const NO_FACTS: NetworkFacts = Object.freeze({
  asn: 0,
  asOrganization: "",
  asDomain: "",
  organization: "",
  isp: "",
  domain: "",
  kind: "",
  line: "",
});

/**
 * Any of these forms, recognised by their fields: MaxMind ASN, ISP, Domain, Connection-Type and Enterprise
 * (`traits`), DB-IP ASN, IPinfo Lite and IPinfo's company and ASN forms.
 */
export function readNetworkFacts(record: MmdbRecord): NetworkFacts {
  const fields = typeof record["traits"] === "object" ? record["traits"] : record;
  const domain = readText(fields, "domain").toLowerCase();
  return {
    asn: readAsn(fields),
    asOrganization: readText(fields, "autonomous_system_organization") || readText(fields, "as_name"),
    asDomain: readText(fields, "as_domain").toLowerCase(),
    organization: readText(fields, "organization") || readText(fields, "name"),
    isp: readText(fields, "isp"),
    // Some records hold the reverse zone, which is the domain of no organization.
    domain: domain.endsWith(".arpa") ? "" : domain,
    kind: KIND_BY_TYPE[readText(fields, "user_type") || readText(fields, "type").toLowerCase()] ?? "",
    line: LINE_BY_TYPE[readText(fields, "connection_type").toLowerCase()] ?? "",
  };
}

export function namesNetwork(record: MmdbRecord): boolean {
  const facts = readNetworkFacts(record);
  return Object.entries(facts).some(([name, value]) => value !== NO_FACTS[name as keyof NetworkFacts]);
}

/** Facts of a company database, completed by those about the network's owner where it has none of its own. */
export function completeFacts(facts: NetworkFacts, owner: NetworkFacts): NetworkFacts {
  if (facts.asn !== 0 && facts.asn !== owner.asn) return facts;
  const network = {
    asn: owner.asn,
    asOrganization: facts.asOrganization || owner.asOrganization,
    asDomain: facts.asDomain || owner.asDomain,
  };
  if (facts.organization !== "" || facts.isp !== "") return { ...facts, ...network };
  return {
    ...network,
    organization: owner.organization,
    isp: owner.isp,
    domain: facts.domain || owner.domain,
    kind: facts.kind || (facts.line === "" ? owner.kind : ""),
    line: facts.line || owner.line,
  };
}

/** MaxMind: a number. IPinfo: `AS15169`. */
function readAsn(fields: unknown): number {
  if (typeof fields !== "object" || fields === null) return 0;
  const { autonomous_system_number: number, asn } = fields as Record<string, unknown>;
  if (typeof number === "number") return number;
  if (typeof asn === "number") return asn;
  const digits = typeof asn === "string" ? /^(?:AS)?(\d{1,10})$/i.exec(asn)?.[1] : undefined;
  return digits === undefined ? 0 : Number(digits);
}

/**
 * MaxMind's `user_type` (https://dev.maxmind.com/geoip/docs/databases/enterprise) and IPinfo's `type`
 * (https://ipinfo.io/developers/ip-to-company-database). Travellers, cafés and routers use access lines.
 */
const KIND_BY_TYPE: Readonly<Record<string, OrganizationKind>> = {
  business: "business",
  cafe: "isp",
  cellular: "isp",
  college: "education",
  consumer_privacy_network: "hosting",
  content_delivery_network: "hosting",
  dialup: "isp",
  education: "education",
  government: "government",
  hosting: "hosting",
  isp: "isp",
  library: "education",
  military: "government",
  residential: "isp",
  router: "isp",
  school: "education",
  search_engine_spider: "business",
  traveler: "isp",
};

/** MaxMind's `connection_type` (https://dev.maxmind.com/geoip/docs/databases/connection-type). */
const LINE_BY_TYPE: Readonly<Record<string, "isp" | "business">> = {
  "cable/dsl": "isp",
  cellular: "isp",
  corporate: "business",
  dialup: "isp",
  satellite: "isp",
};
