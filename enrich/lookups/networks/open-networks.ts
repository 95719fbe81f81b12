import { UNKNOWN_NETWORK } from "../../../schemas/records/enriched-event.js";
import type { Lookups, Network } from "../../../schemas/records/enriched-event.js";
import { GenerationCache } from "../../caches/generation-cache.js";
import type { EntryOf } from "../address-cache.js";
import { findAsnOwner, readAsnOwner } from "./asn-table.js";
import type { AsnTable } from "./asn-table.js";
import { describeNetwork } from "./describe-network.js";
import { openOrganizations } from "./find-organization.js";
import { completeFacts, NO_FACTS, readNetworkFacts } from "./network-facts.js";
import type { NetworkFacts } from "./network-facts.js";
import { openMmdb } from "../mmdb/open-mmdb.js";
import type { MmdbFile } from "../mmdb/open-mmdb.js";
import type { Organization } from "./parse-organizations.js";

/**
 * Sources of facts about networks. `company` comes first, completed by `asn`; `organizations` are tables that
 * name and classify what these found, an earlier one before a later one.
 */
export interface NetworkSources {
  organizations: readonly (readonly Organization[])[];
  /** The network that announces an address. */
  asn: { table: AsnTable } | { mmdb: MmdbFile };
  /** The user of an address. */
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

/** A network with its names. */
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
