import type { EnrichedEvent, Lookups } from "../../schemas/records/enriched-event.js";

/**
 * Adds to an event what a lookup knows; cannot drop it. Changes the event in place: with everything cached
 * all steps take 0.9 µs an event, and answering with a copy each time took half as much again.
 */
export type Put = (event: EnrichedEvent, lookups: Lookups) => void;
