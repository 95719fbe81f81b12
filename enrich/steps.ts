import type { EnrichedEvent, Lookups } from "../schemas/records/enriched-event.js";

/**
 * Adds to an event what a lookup knows; cannot drop it. Changes the event in place: with everything cached
 * all steps take 0.9 µs an event, and answering with a copy each time took half as much again.
 */
type Put = (event: EnrichedEvent, lookups: Lookups) => void;

/** An unfamiliar agent is a fact about the world, not a failure: the client stays unknown. */
const putClient: Put = (event, { clients }) => {
  event.client = clients.of(event.userAgent, event.reported);
};

/** Adds the place, from the city database. */
const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};

/** Adds the company or cloud provider and the connection type. */
const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};

/** Keyed hashes in place of the client and its address; the address itself is not stored. */
const putIds: Put = (event, { ids }) => {
  event.originId = ids.origin(event.address, event.userAgent);
  event.endpointId = ids.endpoint(event.address);
};

/** Enrichment, in order. Steps do not read what others put. */
export const steps: readonly Put[] = [putClient, putPlace, putNetwork, putIds];
