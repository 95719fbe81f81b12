import { describe, expect, it } from "vitest";
import {
  completeFacts,
  namesNetwork,
  NO_FACTS,
  readNetworkFacts,
} from "../../../../../enrich/lookups/networks/network-facts.js";
import { expectedNetworks } from "../mmdb-fixtures.js";

/** Lower case; the reverse zone is nobody's. */
function domainOf(record: Record<string, unknown>): string {
  return (record["domain"] as string).toLowerCase().replace("in-addr.arpa", "");
}

describe("readNetworkFacts", () => {
  it("takes every field of MaxMind's ASN and ISP forms", () => {
    const records = [...expectedNetworks("GeoLite2-ASN-Test"), ...expectedNetworks("GeoIP2-ISP-Test")];
    expect(records.length).toBeGreaterThan(2000);
    expect(records.map(({ record }) => readNetworkFacts(record))).toEqual(
      records.map(({ record }) => ({
        ...NO_FACTS,
        asn: record["autonomous_system_number"] ?? 0,
        asOrganization: record["autonomous_system_organization"] ?? "",
        organization: record["organization"] ?? "",
        isp: record["isp"] ?? "",
      })),
    );
  });

  it("takes every domain of MaxMind's Domain form", () => {
    const records = expectedNetworks("GeoIP2-Domain-Test");
    expect(records.map(({ record }) => readNetworkFacts(record))).toEqual(
      records.map(({ record }) => ({ ...NO_FACTS, domain: domainOf(record) })),
    );
  });

  it.each([
    ["Cable/DSL", "isp"],
    ["Cellular", "isp"],
    ["Dialup", "isp"],
    ["Satellite", "isp"],
    ["Corporate", "business"],
    ["Carrier pigeon", ""],
  ])("takes a line of type %s for %j", (type, line) => {
    expect(readNetworkFacts({ connection_type: type })).toEqual({ ...NO_FACTS, line });
  });

  it("knows every connection type of MaxMind's Connection-Type form", () => {
    const records = expectedNetworks("GeoIP2-Connection-Type-Test");
    expect(records.filter(({ record }) => readNetworkFacts(record).line === "")).toEqual([]);
  });

  it.each([
    ["residential", "isp"],
    ["cellular", "isp"],
    ["traveler", "isp"],
    ["business", "business"],
    ["search_engine_spider", "business"],
    ["college", "education"],
    ["library", "education"],
    ["government", "government"],
    ["military", "government"],
    ["hosting", "hosting"],
    ["content_delivery_network", "hosting"],
  ])("takes MaxMind's user type %s for %j", (type, kind) => {
    expect(readNetworkFacts({ traits: { user_type: type } })).toEqual({ ...NO_FACTS, kind });
  });

  it("knows every user type of MaxMind's Enterprise form, and reads what stands beside it", () => {
    const traits = expectedNetworks("GeoIP2-Enterprise-Test")
      .map(({ record }) => record["traits"] as Record<string, string> | undefined)
      .filter((each) => each?.["user_type"] !== undefined);
    expect(traits.filter((each) => readNetworkFacts({ traits: each }).kind === "")).toEqual([]);
    expect(traits.map((each) => readNetworkFacts({ traits: each }).organization)).toEqual(
      traits.map((each) => each?.["organization"] ?? ""),
    );
  });

  it("reads IPinfo Lite, with the owner's domain", () => {
    const record = { asn: "AS15169", as_name: "Google LLC", as_domain: "google.com", country: "US" };
    const facts = { asn: 15169, asOrganization: "Google LLC", asDomain: "google.com" };
    expect(readNetworkFacts(record)).toEqual({ ...NO_FACTS, ...facts });
  });

  it("reads IPinfo's company form", () => {
    const record = { name: "Acme Corp", domain: "Acme.example", type: "business" };
    const facts = { organization: "Acme Corp", domain: "acme.example", kind: "business" };
    expect(readNetworkFacts(record)).toEqual({ ...NO_FACTS, ...facts });
  });

  it.each([
    [{}],
    [{ traits: null }],
    [{ asn: "many", autonomous_system_number: "7" }],
    [{ domain: "in-addr.arpa" }],
  ])("finds nothing in %j", (record) => {
    expect(readNetworkFacts(record)).toEqual(NO_FACTS);
    expect(namesNetwork(record)).toBe(false);
  });
});

describe("completeFacts", () => {
  const owner = { ...NO_FACTS, asn: 701, asOrganization: "Verizon", asDomain: "verizon.com" };

  it("adds the owner where a database says only who uses the network", () => {
    const facts = { ...NO_FACTS, organization: "Acme" };
    expect(completeFacts(facts, owner)).toEqual({ ...owner, organization: "Acme" });
  });

  it("leaves the owner as it is where a database says nothing", () => {
    const user = { organization: "Acme", isp: "Verizon", domain: "acme.example", kind: "business" } as const;
    const full = { ...owner, ...user };
    expect(completeFacts(NO_FACTS, full)).toEqual(full);
    expect(completeFacts({ ...NO_FACTS, line: "isp" }, full)).toEqual({ ...full, kind: "", line: "isp" });
  });

  it("leaves out the owner where a database names another", () => {
    const facts = { ...NO_FACTS, asn: 7, asOrganization: "Other" };
    expect(completeFacts(facts, owner)).toEqual(facts);
  });
});
