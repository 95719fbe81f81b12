import type { Lookups, Network } from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../generation-cache.js";
import { addressOf, type Address } from "../parse-address.js";
import { SlotCache } from "../slot-cache.js";
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
import type { FindRecord } from "../mmdb/search-tree.js";
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
export function openNetworks({ organizations, asn, company }: NetworkSources): Lookups["networks"] {
  const named = openOrganizations(organizations);
  const owners = "table" in asn ? openTable(asn.table) : openFacts(asn.mmdb);
  const users = company === undefined ? NOBODY : openFacts(company);
  const intern = openInterning();
  // Slots for nearly three times the 91,000 owners of the bundled table.
  const networks = new SlotCache<Network>(18);
  return {
    of: (text) => {
      const address = addressOf(text);
      const user = users.find(address);
      const owner = owners.find(address);
      const known = networks.get(user, owner);
      if (known !== undefined) return known;
      const facts = completeFacts(factsOf(users, user, address), factsOf(owners, owner, address));
      const network = intern(describeNetwork(facts, named));
      networks.set(user, owner, network);
      return network;
    },
  };
}

/** Facts about addresses by number: `find` answers 0 where there are none. */
interface FactsSource {
  find: FindRecord;
  read: (address: Readonly<Address>, found: number) => NetworkFacts;
}

const NOBODY: FactsSource = { find: () => 0, read: () => NO_FACTS };

function factsOf(source: FactsSource, found: number, address: Readonly<Address>): NetworkFacts {
  return found === 0 ? NO_FACTS : source.read(address, found);
}

function openFacts(file: MmdbFile): FactsSource {
  const { find, read } = openMmdb(file);
  return { find, read: (address) => readNetworkFacts(read(address)) };
}

function openTable(table: AsnTable): FactsSource {
  return {
    find: (address) => findAsnOwner(table, address) + 1,
    read: (_, found) => {
      const { asn, organization } = readAsnOwner(table, found - 1);
      return { ...NO_FACTS, asn, asOrganization: organization };
    },
  };
}

const INTERNED_BYTES_MAX = 8 * 1024 * 1024;
const NETWORK_BYTES = 400;

/** One object for equal networks: the column encoder compares by identity. */
function openInterning(): (network: Network) => Network {
  const interned = new GenerationCache<string, Network>(INTERNED_BYTES_MAX, () => NETWORK_BYTES);
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
