import { UNKNOWN_PLACE, type Lookups, type Place } from "../../../schemas/records/enriched-event.js";
import { addressOf } from "../parse-address.js";
import { SlotCache } from "../slot-cache.js";
import { openMmdb, type MmdbFile, type MmdbRecord, readNumber, readText } from "./open-mmdb.js";

/** Looks up the place of an address in the first database that has it. Addresses in one city share a place. */
export function openPlaces(files: readonly MmdbFile[]): Lookups["places"] {
  const databases = files.map(openMmdb);
  const places = new SlotCache<Place>(16);
  return {
    of: (text) => {
      const address = addressOf(text);
      for (let index = 0; index < databases.length; index++) {
        const record = databases[index]!.find(address);
        if (record === 0) continue;
        const place = places.get(record, index) ?? readPlace(databases[index]!.read(address));
        places.set(record, index, place);
        return place;
      }
      return UNKNOWN_PLACE;
    },
  };
}

/** MaxMind's City and Enterprise form (also DB-IP's), or the flat form of ip-location-db. English names. */
export function readPlace(record: MmdbRecord): Place {
  return Object.freeze("country_code" in record ? readFlatPlace(record) : readNestedPlace(record));
}

export function namesPlace(record: MmdbRecord): boolean {
  return ["country_code", "country", "registered_country", "city", "location"].some((key) => key in record);
}

function readFlatPlace(record: MmdbRecord): Place {
  return {
    country: readText(record, "country_code").toUpperCase(),
    state: readText(record, "state1"),
    city: readText(record, "city"),
    postal: readText(record, "postcode"),
    latitude: roundDegrees(readNumber(record, "latitude")),
    longitude: roundDegrees(readNumber(record, "longitude")),
  };
}

function readNestedPlace(record: MmdbRecord): Place {
  return {
    // Not `registered_country`: that is where the owner of the network is, not the client.
    country: readText(record, "country", "iso_code"),
    state: readText(record, "subdivisions", 0, "names", "en"),
    city: readText(record, "city", "names", "en"),
    postal: readText(record, "postal", "code"),
    latitude: roundDegrees(readNumber(record, "location", "latitude")),
    longitude: roundDegrees(readNumber(record, "location", "longitude")),
  };
}

/** Five decimals (one metre): 32-bit floats in the file would otherwise show as 37.422000885009766. */
function roundDegrees(degrees: number): number {
  return Math.round(degrees * 1e5) / 1e5;
}
