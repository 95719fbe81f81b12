import type { Network, Place } from "../../schemas/records/enriched-event.js";
import { GenerationCache } from "./generation-cache.js";

export interface AddressEntry {
  place: Place | undefined;
  network: Network | undefined;
  endpointId: string | undefined;
  /** User agents and their origin ids in turn, the newest last. */
  origins: string[];
}

export type EntryOf = (address: string) => AddressEntry;

/** With its text, its ids and the origin ids of four user agents; places, networks and user agents are shared. */
const ENTRY_BYTES = 600;

/**
 * One cache for all steps. They ask for the same address in a row: keeping the last entry outside the map
 * saves three of four lookups.
 */
export function openAddressCache({ cacheBytesMax }: { cacheBytesMax: number }): EntryOf {
  const cache = new GenerationCache<string, AddressEntry>(cacheBytesMax, () => ENTRY_BYTES);
  let lastAddress = "";
  let last: AddressEntry = openEntry();
  return (address) => {
    if (address === lastAddress) return last;
    let entry = cache.get(address);
    if (entry === undefined) cache.set(address, (entry = openEntry()));
    lastAddress = address;
    last = entry;
    return entry;
  };
}

function openEntry(): AddressEntry {
  return { place: undefined, network: undefined, endpointId: undefined, origins: [] };
}
