import type { EnrichedEvent, Lookups } from "../schemas/records/enriched-event.js";

/**
 * Changes the event in place: with everything cached all steps take 0.9 µs an event, half as much again with
 * copies.
 */
type Put = (event: EnrichedEvent, lookups: Lookups) => void;

/** An unfamiliar agent is a fact about the world, not a failure: the client stays unknown. */
const putClient: Put = (event, { clients }) => {
  event.client = clients.of(event.userAgent, event.reported);
};

const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
};

const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};

/** Enrichment, in order. Steps do not read what others put. */
export const steps: readonly Put[] = [putClient, putPlace, putNetwork];
