import type { Network } from "../../../schemas/records/enriched-event.js";
import { classifyOrganization } from "./classify-organization.js";
import type { Organizations } from "./find-organization.js";
import type { NetworkFacts, OrganizationKind } from "./network-facts.js";
import type { Organization } from "./parse-organizations.js";
import { sharesWord } from "./shares-word.js";

/**
 * Names the company or cloud provider of a network. An ISP or a hosting provider is not a company; every other network
 * belongs to a company with a name and, where one is known, a domain.
 */
export function describeNetwork(facts: NetworkFacts, organizations: Organizations): Network {
  const owner = organizations.ofOwner(facts.asn, facts.asOrganization);
  const user = findUser(facts, owner, organizations);
  const kind = kindOf(facts, owner, user);
  if (kind === "cloud") return describeCloud(facts, user?.kind === "cloud" ? user : owner);
  const company = isCompany(kind) ? describeCompany(facts, owner, user) : NO_COMPANY;
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

/** The organization that a database names as the user: one of the tables, or the owner under another of its names. */
function findUser(
  { organization, isp }: NetworkFacts,
  owner: Organization | undefined,
  organizations: Organizations,
): Organization | undefined {
  const name = organization || isp;
  const named = organizations.ofName(name);
  if (named !== undefined) return named;
  return owner !== undefined && sharesWord(name, owner.name) ? owner : undefined;
}

/** Order: the database's own kind, the access line, the kind from the name. */
function kindOf(
  facts: NetworkFacts,
  owner: Organization | undefined,
  user: Organization | undefined,
): OrganizationKind | "" {
  // Databases call clouds hosting; only the curated table tells them apart.
  if (facts.kind === "hosting" && owner?.kind === "cloud") return "cloud";
  if (facts.kind !== "") return facts.kind;
  if (facts.line === "isp") return "isp";
  const kind = user?.kind ?? kindOfName(facts, owner);
  // A business line at an ISP belongs to a company, also where the name is the ISP's.
  return facts.line === "business" && (kind === "isp" || kind === "") ? "business" : kind;
}

function kindOfName(facts: NetworkFacts, owner: Organization | undefined): OrganizationKind | "" {
  const { organization, isp } = facts;
  if (organization === "" && isp === "") return kindOfOwner(facts, owner);
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
function describeCompany(
  facts: NetworkFacts,
  owner: Organization | undefined,
  user: Organization | undefined,
) {
  const { organization, domain } = facts;
  if (organization !== "") {
    return { company: user?.name ?? organization, companyDomain: domain || (user?.domain ?? "") };
  }
  const kind = kindOfOwner(facts, owner);
  const isOwner = kind !== "" && kind !== "cloud" && isCompany(kind);
  const company = isOwner ? (owner?.name ?? facts.asOrganization) : "";
  const ownDomain = isOwner ? (owner?.domain ?? facts.asDomain) : "";
  return { company: company || domain, companyDomain: domain || ownDomain };
}
