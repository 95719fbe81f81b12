import { putClient } from "./put-client.js";
import { putIds } from "./put-ids.js";
import { putNetwork } from "./put-network.js";
import { putPlace } from "./put-place.js";
import type { Put } from "./put.js";

/** Enrichment, in order. Steps do not read what others put. */
export const steps: readonly Put[] = [putClient, putPlace, putNetwork, putIds];
