import type { EnrichedEvent, Lookups } from "../../schemas/enriched-event.js";
import { putClient } from "./put-client.js";
import { putIds } from "./put-ids.js";
import { putNetwork } from "./put-network.js";
import { putPlace } from "./put-place.js";

/**
 * Adds to an event what a lookup knows; cannot drop it. Changes the event in place: with everything cached
 * all steps take 0.9 µs an event, and answering with a copy each time took half as much again.
 */
export type Put = (event: EnrichedEvent, lookups: Lookups) => void;

/** Enrichment, in order. Steps do not read what others put. */
export const steps: readonly Put[] = [putClient, putPlace, putNetwork, putIds];
