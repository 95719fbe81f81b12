import {
  type EnrichedEvent,
  type Lookups,
  type Place,
  UNKNOWN_PLACE,
} from "../schemas/records/enriched-event.js";

/**
 * Changes the event in place: with everything cached all steps take 0.9 µs an event, half as much again with
 * copies.
 */
type Put = (event: EnrichedEvent, lookups: Lookups) => void;

/** An unfamiliar agent is a fact about the world, not a failure: the client stays unknown. */
const putClient: Put = (event, { clients }) => {
  event.client = clients.of(event.userAgent, event.reported);
};

/** The country that the line itself names fills the gap of one without an address, or with an unknown one. */
const putPlace: Put = (event, { places }) => {
  event.place = places.of(event.address);
  if (event.country !== "" && event.place.country === "") event.place = placeIn(event.country);
};

/** One object for each country, as `event-block.ts` stores each object once. */
const byCountry = new Map<string, Place>();

function placeIn(country: string): Place {
  const known = byCountry.get(country) ?? Object.freeze({ ...UNKNOWN_PLACE, country });
  byCountry.set(country, known);
  return known;
}

const putNetwork: Put = (event, { networks }) => {
  event.network = networks.of(event.address);
};

/** Enrichment, in order. Steps do not read what others put. */
export const steps: readonly Put[] = [putClient, putPlace, putNetwork];
