import type { Network } from "../../../schemas/records/enriched-event.js";
import { classifyOrganization } from "./classify-organization.js";
import type { NetworkFacts, OrganizationKind } from "./network-facts.js";
import type { Organization } from "./parse-organizations.js";
import { namesOrganization } from "./names-organization.js";

/** The curated organizations by AS number. */
export type Organizations = ReadonlyMap<number, Organization>;

/**
 * Names the company or cloud provider of a network. An ISP or a hosting provider is not a company; every other network
 * belongs to a company with a name and, where one is known, a domain.
 */
export function describeNetwork(facts: NetworkFacts, organizations: Organizations): Network {
  const owner = organizations.get(facts.asn);
  const kind = kindOf(facts, owner);
  if (kind === "cloud") return describeCloud(facts, owner);
  const company = isCompany(kind) ? describeCompany(facts, owner) : NO_COMPANY;
  return Object.freeze({
    ...company,
    connectionType: kind === "" ? "" : CONNECTION_TYPES[kind],
    cloudProvider: "",
    cloudProviderDomain: "",
  });
}

/** The wire values of `origin_connection_type`. */
const CONNECTION_TYPES: Readonly<Record<OrganizationKind, string>> = {
  cloud: "cloud provider",
  hosting: "hosting",
  isp: "ISP",
  business: "business",
  education: "education",
  government: "government",
};

const NO_COMPANY = Object.freeze({ company: "", companyDomain: "" });

/** Order: the database's own kind, the access line, the kind from the name. */
function kindOf(facts: NetworkFacts, owner: Organization | undefined): OrganizationKind | "" {
  // Databases call clouds hosting; only the curated table tells them apart.
  if (facts.kind === "hosting" && owner?.kind === "cloud") return "cloud";
  if (facts.kind !== "") return facts.kind;
  if (facts.line === "isp") return "isp";
  const kind = kindOfName(facts, owner);
  // A business line at an ISP belongs to a company, also where the name is the ISP's.
  return facts.line === "business" && (kind === "isp" || kind === "") ? "business" : kind;
}

function kindOfName(facts: NetworkFacts, owner: Organization | undefined): OrganizationKind | "" {
  const { organization, isp } = facts;
  const name = organization || isp;
  if (name === "") return kindOfOwner(facts, owner);
  if (owner !== undefined && namesOrganization(name, owner)) return owner.kind;
  return organization === "" ? "isp" : classifyOrganization(organization);
}

function kindOfOwner(
  { asOrganization }: NetworkFacts,
  owner: Organization | undefined,
): OrganizationKind | "" {
  return owner?.kind ?? (asOrganization === "" ? "" : classifyOrganization(asOrganization));
}

function isCompany(kind: OrganizationKind | ""): boolean {
  return kind !== "isp" && kind !== "hosting";
}

function describeCloud(facts: NetworkFacts, owner: Organization | undefined): Network {
  return Object.freeze({
    ...NO_COMPANY,
    connectionType: CONNECTION_TYPES.cloud,
    cloudProvider: owner?.name ?? facts.asOrganization,
    cloudProviderDomain: owner?.domain ?? facts.asDomain,
  });
}

/** If no database names the user, the AS owner is the company, unless it is an ISP, host, cloud or of unknown kind. */
function describeCompany(facts: NetworkFacts, owner: Organization | undefined) {
  const { organization, domain } = facts;
  if (organization !== "") {
    const same = owner !== undefined && namesOrganization(organization, owner) ? owner : undefined;
    return { company: same?.name ?? organization, companyDomain: domain || (same?.domain ?? "") };
  }
  const kind = kindOfOwner(facts, owner);
  const isOwner = kind !== "" && kind !== "cloud" && isCompany(kind);
  const company = isOwner ? (owner?.name ?? facts.asOrganization) : "";
  const ownDomain = isOwner ? (owner?.domain ?? facts.asDomain) : "";
  return { company: company || domain, companyDomain: domain || ownDomain };
}
