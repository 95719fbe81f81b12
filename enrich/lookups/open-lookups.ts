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
  /** Most entries of each cache; one entry takes about 300 bytes. */
  cacheEntriesMax?: number;
}

/**
 * The sources of enrichment over loaded data, behind caches by address and by user agent. Takes milliseconds: every worker
 * thread opens its own over the same shared data. Answers are frozen.
 */
export function openLookups(
  data: LookupData,
  { originKey, cacheEntriesMax = 50_000 }: LookupOptions,
): Lookups {
  const entryOf = openAddressCache({ cacheEntriesMax });
  return {
    clients: openClients({ cacheEntriesMax }),
    places: openPlaces(data.cities, { entryOf, cacheEntriesMax }),
    networks: openNetworks(data.networks, { entryOf, cacheEntriesMax }),
    ids: openIds(originKey, entryOf),
  };
}
