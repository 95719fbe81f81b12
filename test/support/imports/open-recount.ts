import { loadLookupData } from "../../../enrich/lookups/load-lookup-data.js";
import { openLookups } from "../../../enrich/lookups/open-lookups.js";
import { type ReceivedBody, type Recount, recount } from "./recount.js";
import type { KnownArtifact } from "./recount-line.js";

/** Counts bodies again, in the order in which they were received. */
export type RecountBodies = (bodies: readonly ReceivedBody[], artifacts: readonly KnownArtifact[]) => Recount;

/** Loads the bundled tables, about a second. Ids are not recounted, so their key may be any. */
export async function openRecount(): Promise<RecountBodies> {
  const lookups = openLookups(await loadLookupData({}), { originKey: new Uint8Array(32) });
  return (bodies, artifacts) => recount(bodies, { artifacts, lookups, receivedAt: Date.now() });
}
