import { describe, expect, it } from "vitest";
import { steps } from "../../../../enrich/steps.js";
import {
  UNKNOWN_CLIENT,
  UNKNOWN_NETWORK,
  UNKNOWN_PLACE,
  type EnrichedEvent,
  type Lookups,
} from "../../../../schemas/records/enriched-event.js";

const event: EnrichedEvent = {
  artifact: {
    kind: "package",
    id: "00000000-0000-4000-8000-000000000000",
    ownerId: "owner",
    libraryType: "npm",
  },
  line: 7,
  uniqueId: "u",
  time: 1_700_000_000_000,
  type: "package-download",
  version: "1.0.0",
  domain: "d.example",
  referer: "https://r.example/",
  userAgent: "npm/10",
  address: "192.0.2.1",
  country: "",
  variables: ["os", "linux"],
  client: UNKNOWN_CLIENT,
  place: UNKNOWN_PLACE,
  network: UNKNOWN_NETWORK,
};

/** Answers with what was asked for, so that a mix-up shows. */
const lookups: Lookups = {
  id: "echo",
  clients: { of: (userAgent) => ({ ...UNKNOWN_CLIENT, client: userAgent }) },
  places: { of: (address) => ({ ...UNKNOWN_PLACE, city: address }) },
  networks: { of: (address) => ({ ...UNKNOWN_NETWORK, company: address }) },
};

describe("the steps of enrichment", () => {
  it("put what the lookups know, and change nothing else", () => {
    const enriched = { ...event };
    steps.forEach((put) => put(enriched, lookups));
    expect(enriched).toEqual({
      ...event,
      client: { ...UNKNOWN_CLIENT, client: "npm/10" },
      place: { ...UNKNOWN_PLACE, city: "192.0.2.1" },
      network: { ...UNKNOWN_NETWORK, company: "192.0.2.1" },
    });
  });

  it("take the country that the line names where its address tells none, as one object for each country", () => {
    const inGermany = { ...event, country: "DE" };
    const places = [inGermany, { ...inGermany }].map((each) => {
      steps.forEach((put) => put(each, lookups));
      return each.place;
    });
    expect(places[0]).toEqual({ ...UNKNOWN_PLACE, country: "DE" });
    expect(places[1]).toBe(places[0]);
    const known = { ...lookups, places: { of: () => ({ ...UNKNOWN_PLACE, country: "NL" }) } };
    steps.forEach((put) => put(inGermany, known));
    expect(inGermany.place.country).toBe("NL");
  });

  it("come to the same when they run twice", () => {
    const enriched = { ...event };
    steps.forEach((put) => put(enriched, lookups));
    const once = { ...enriched };
    steps.forEach((put) => put(enriched, lookups));
    expect(enriched).toEqual(once);
  });
});
