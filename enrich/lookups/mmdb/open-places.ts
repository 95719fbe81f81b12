import { UNKNOWN_PLACE } from "../../../schemas/records/enriched-event.js";
import type { Lookups, Place } from "../../../schemas/records/enriched-event.js";
import type { EntryOf } from "../address-cache.js";
import { openMmdb } from "./open-mmdb.js";
import type { MmdbFile, MmdbRecord } from "./open-mmdb.js";
import { readPlace } from "./read-place.js";

/** Looks up the place of an address in the first database that has it. */
export function openPlaces(
  files: readonly MmdbFile[],
  { entryOf, cacheBytesMax }: { entryOf: EntryOf; cacheBytesMax: number },
): Lookups["places"] {
  const databases = files.map((file) => openMmdb(file, { cacheBytesMax }));
  // Addresses in one city share a record, and then also the place: the column encoder compares by identity.
  const places = new WeakMap<MmdbRecord, Place>();
  const placeOf = (record: MmdbRecord | undefined) => {
    if (record === undefined) return UNKNOWN_PLACE;
    const place = places.get(record) ?? readPlace(record);
    places.set(record, place);
    return place;
  };
  return {
    of: (address) => {
      if (address === "") return UNKNOWN_PLACE;
      return (entryOf(address).place ??= placeOf(findFirst(databases, address)));
    },
  };
}

function findFirst(
  databases: readonly ReturnType<typeof openMmdb>[],
  address: string,
): MmdbRecord | undefined {
  for (const database of databases) {
    const record = database.find(address);
    if (record !== undefined) return record;
  }
  return undefined;
}
