import { UNKNOWN_NETWORK, type Lookups, type Network } from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../generation-cache.js";
import type { EntryOf } from "../address-cache.js";
import { findAsnOwner, readAsnOwner, type AsnTable } from "./asn-table.js";
import { openOrganizations, type Organizations, type Organization, sharesWord } from "./find-organization.js";
import {
  completeFacts,
  NO_FACTS,
  readNetworkFacts,
  type NetworkFacts,
  type OrganizationKind,
} from "./network-facts.js";
import { openMmdb, type MmdbFile } from "../mmdb/open-mmdb.js";
import { classifyOrganization } from "./classify-organization.js";

/**
 * `company` comes first, completed by `asn`; `organizations` name and classify what these found, earlier
 * tables first.
 */
export interface NetworkSources {
  organizations: readonly (readonly Organization[])[];
  asn: { table: AsnTable } | { mmdb: MmdbFile };
  company: MmdbFile | undefined;
}

/** Looks up the network of an address; equal answers are the same object while they are cached. */
export function openNetworks(
  { organizations, asn, company }: NetworkSources,
  { entryOf, cacheBytesMax }: { entryOf: EntryOf; cacheBytesMax: number },
): Lookups["networks"] {
  const limits = { cacheBytesMax };
  const named = openOrganizations(organizations);
  const ownerOf = "table" in asn ? openTable(asn.table, limits) : openFacts(asn.mmdb, limits);
  const userOf = company === undefined ? () => NO_FACTS : openFacts(company, limits);
  const intern = openInterning(limits);
  const describe = (facts: NetworkFacts) => intern(describeNetwork(facts, named));
  const described = new WeakMap<NetworkFacts, Network>();
  const find = (address: string) => {
    const owner = ownerOf(address);
    const user = userOf(address);
    if (user !== NO_FACTS) return describe(completeFacts(user, owner));
    const network = described.get(owner) ?? describe(owner);
    described.set(owner, network);
    return network;
  };
  return {
    of: (address) => (address === "" ? UNKNOWN_NETWORK : (entryOf(address).network ??= find(address))),
  };
}

const NETWORK_BYTES = 400;

type FactsOf = (address: string) => NetworkFacts;

function openFacts(file: MmdbFile, limits: { cacheBytesMax: number }): FactsOf {
  const database = openMmdb(file, limits);
  return (address) => {
    const record = database.find(address);
    return record === undefined ? NO_FACTS : readNetworkFacts(record);
  };
}

function openTable(table: AsnTable, { cacheBytesMax }: { cacheBytesMax: number }): FactsOf {
  const byOwner = new GenerationCache<number, NetworkFacts>(cacheBytesMax, () => NETWORK_BYTES);
  return (address) => {
    const owner = findAsnOwner(table, address);
    if (owner < 0) return NO_FACTS;
    const known = byOwner.get(owner);
    if (known !== undefined) return known;
    const { asn, organization } = readAsnOwner(table, owner);
    const facts = { ...NO_FACTS, asn, asOrganization: organization };
    byOwner.set(owner, facts);
    return facts;
  };
}

/** One object for equal networks: the column encoder compares by identity. */
function openInterning({ cacheBytesMax }: { cacheBytesMax: number }): (network: Network) => Network {
  const interned = new GenerationCache<string, Network>(cacheBytesMax, () => NETWORK_BYTES);
  return (network) => {
    const key = Object.values(network).join("\0");
    const known = interned.get(key);
    if (known !== undefined) return known;
    interned.set(key, network);
    return network;
  };
}

/**
 * An ISP or a hosting provider is not a company; every other network belongs to one with a name and, where
 * known, a domain.
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
