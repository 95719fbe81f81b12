import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { LookupData } from "./load-lookup-data.js";
import { openAddressCache } from "./address-cache.js";
import { openClients } from "./clients/open-clients.js";
import { openIds } from "./open-ids.js";
import { openNetworks } from "./networks/open-networks.js";
import { openPlaces } from "./mmdb/open-places.js";

export interface LookupOptions {
  /** Key of the origin and endpoint ids: at least 16 bytes, the same for as long as ids shall compare. */
  originKey: Uint8Array;
}

/** Takes milliseconds: every worker thread opens its own over the same shared data. Answers are frozen. */
export function openLookups(data: LookupData, { originKey }: LookupOptions): Lookups {
  const entryOf = openAddressCache({ cacheBytesMax: CACHE_BYTES.addresses });
  return {
    id: data.id,
    clients: openClients({ cacheBytesMax: CACHE_BYTES.clients }),
    places: openPlaces(data.cities, { entryOf, cacheBytesMax: CACHE_BYTES.records }),
    networks: openNetworks(data.networks, { entryOf, cacheBytesMax: CACHE_BYTES.records }),
    ids: openIds(originKey, entryOf),
  };
}

const MIB = 1024 * 1024;

/**
 * Limits of the caches of one thread. Two files of cities, the owners of networks and their descriptions have
 * a cache of `records` each: 112 MiB in all.
 */
const CACHE_BYTES = { addresses: 32 * MIB, clients: 16 * MIB, records: 16 * MIB };
