import type { Lookups } from "../../schemas/records/enriched-event.js";
import type { LookupData } from "./load-lookup-data.js";
import { openClients } from "./clients/open-clients.js";
import { openNetworks } from "./networks/open-networks.js";
import { openPlaces } from "./mmdb/open-places.js";

/** Takes milliseconds: every worker thread opens its own over the same shared data. Answers are frozen. */
export function openLookups(data: LookupData): Lookups {
  return {
    id: data.id,
    clients: openClients({ cacheBytesMax: CLIENT_BYTES_MAX }),
    places: openPlaces(data.cities),
    networks: openNetworks(data.networks),
  };
}

const CLIENT_BYTES_MAX = 16 * 1024 * 1024;
