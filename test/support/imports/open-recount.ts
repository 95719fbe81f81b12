import { loadLookupData } from "../../../enrich/lookups/load-lookup-data.js";
import { openLookups } from "../../../enrich/lookups/open-lookups.js";
import { ALL_PREPARED, smallLookups, type Prepared } from "../stores/prepared-stores.js";
import { type ReceivedBody, type Recount, recount } from "./recount.js";
import type { KnownArtifact } from "./recount-line.js";

/** Counts bodies again, in the order in which they were received. */
export type RecountBodies = (bodies: readonly ReceivedBody[], artifacts: readonly KnownArtifact[]) => Recount;

/** With the tables of a program that is started the same way. Ids are not recounted, so their key may be any. */
export async function openRecount({
  prepared = ALL_PREPARED,
}: { prepared?: readonly Prepared[] } = {}): Promise<RecountBodies> {
  const { ASN_DB: asnDb, CITY_MMDB: cityMmdb } = smallLookups(prepared);
  const lookups = openLookups(await loadLookupData({ asnDb, cityMmdb }), { originKey: new Uint8Array(32) });
  return (bodies, artifacts) => recount(bodies, { artifacts, lookups, receivedAt: Date.now() });
}
