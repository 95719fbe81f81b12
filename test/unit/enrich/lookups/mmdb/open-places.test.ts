import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openPlaces, readPlace } from "../../../../../enrich/lookups/mmdb/open-places.js";
import { UNKNOWN_PLACE } from "../../../../../schemas/records/enriched-event.js";
import { expectedNetworks, fixturePath } from "../mmdb-fixtures.js";

function open(...names: string[]) {
  const files = names.map((name) => ({ path: name, bytes: readFileSync(fixturePath(`${name}.mmdb`)) }));
  return openPlaces(files);
}

/** MaxMind's record as far as places go. */
interface CityRecord {
  country?: { iso_code?: string };
  subdivisions?: { names?: { en?: string } }[];
  city?: { names?: { en?: string } };
  postal?: { code?: string };
  location?: { latitude?: number; longitude?: number };
}

function expectedPlace(record: CityRecord) {
  return {
    country: record.country?.iso_code ?? "",
    state: record.subdivisions?.[0]?.names?.en ?? "",
    city: record.city?.names?.en ?? "",
    postal: record.postal?.code ?? "",
    latitude: record.location?.latitude ?? NaN,
    longitude: record.location?.longitude ?? NaN,
  };
}

describe.each(["GeoIP2-City-Test", "GeoIP2-Enterprise-Test"])("places of %s", (name) => {
  const places = open(name);
  const expected = expectedNetworks(name);

  it("are those that it was made from, for every network", () => {
    const found = expected.map(({ network, addresses }) => [
      network,
      ...addresses.map((address) => places.of(address)),
    ]);
    expect(found).toEqual(
      expected.map(({ network, record }) => [network, expectedPlace(record), expectedPlace(record)]),
    );
  });

  it("are one frozen object for a network's addresses", () => {
    const [first, last] = expected[0]!.addresses;
    expect(places.of(first)).toBe(places.of(last));
    expect(Object.isFrozen(places.of(first))).toBe(true);
  });
});

describe("openPlaces", () => {
  it("asks the next database where one does not know the address", () => {
    const places = open("GeoIP2-Enterprise-Test", "GeoIP2-City-Test");
    expect(places.of("81.2.69.142").city).toBe("London");
    expect(places.of("74.209.24.1").city).toBe("Chatham");
  });

  it.each(["", "127.0.0.1", "::1"])("does not know where %j is", (address) => {
    expect(open("GeoIP2-City-Test").of(address)).toBe(UNKNOWN_PLACE);
  });

  it("keeps answering right when addresses no longer fit into its caches", () => {
    const places = open("GeoIP2-City-Test");
    const askAll = () => expectedNetworks("GeoIP2-City-Test").map(({ addresses }) => places.of(addresses[1]));
    expect(askAll()).toEqual(askAll());
  });
});

describe("readPlace", () => {
  it("reads the flat form of ip-location-db, without the noise of 32-bit floats", () => {
    expect(
      readPlace({
        country_code: "US",
        state1: "California",
        state2: "",
        city: "Mountain View",
        postcode: "94043",
        latitude: 37.422000885009766,
        longitude: -122.08499908447266,
        timezone: "",
      }),
    ).toEqual({
      country: "US",
      state: "California",
      city: "Mountain View",
      postal: "94043",
      latitude: 37.422,
      longitude: -122.085,
    });
  });

  it.each([[{}], [{ country_code: 7 }], [{ location: "here", subdivisions: {}, city: null }]])(
    "finds nothing in %j",
    (record) => {
      expect(readPlace(record)).toEqual(UNKNOWN_PLACE);
    },
  );
});
