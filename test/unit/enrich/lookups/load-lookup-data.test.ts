import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { loadLookupData, type LookupData } from "../../../../enrich/lookups/load-lookup-data.js";
import { openLookups } from "../../../../enrich/lookups/open-lookups.js";
import { fixturePath } from "./mmdb-fixtures.js";

describe("the bundled databases", () => {
  let data: LookupData;

  beforeAll(async () => {
    data = await loadLookupData({});
  });

  it.each([
    ["8.8.8.8", "US", "Google", "google.com", ""],
    ["2001:4860:4860::8888", "CA", "Google", "google.com", ""],
    ["3.5.1.1", "US", "", "", "Amazon Web Services"],
    ["20.50.2.1", "NL", "", "", "Microsoft Azure"],
    ["2a01:4f8::1", "DE", "", "", "Hetzner"],
    ["24.5.6.7", "US", "", "", ""],
    ["18.9.22.69", "US", "Massachusetts Institute of Technology", "mit.edu", ""],
  ])("know %s", (address, country, company, companyDomain, cloudProvider) => {
    const lookups = openLookups(data);
    expect(lookups.places.of(address)).toMatchObject({ country });
    expect(lookups.networks.of(address)).toMatchObject({ company, companyDomain, cloudProvider });
  });

  it("are shared, not copied, by a thread that they are sent to", () => {
    const sent = structuredClone(data);
    const arrays = [...sent.cities.map(({ bytes }) => bytes), ...tableArrays(sent)];
    expect(arrays.length).toBeGreaterThan(8);
    expect(arrays.every((array) => array.buffer instanceof SharedArrayBuffer)).toBe(true);
    const lookups = openLookups(sent);
    expect(lookups.networks.of("3.5.1.1").cloudProvider).toBe("Amazon Web Services");
    expect(lookups.places.of("24.5.6.7").country).toBe("US");
  });
});

function tableArrays({ networks: { asn } }: LookupData): (Uint8Array | Uint32Array)[] {
  const { ipv4, ipv6, numbers, nameEnds, names } = (asn as Extract<typeof asn, { table: unknown }>).table;
  const ranges = [ipv4, ipv6].flatMap(({ starts, ends, owners }) => [starts, ends, owners]);
  return [...ranges, numbers, nameEnds, names];
}

describe("databases of one's own", () => {
  it("take the place of the bundled ones", async () => {
    const data = await loadLookupData({
      cityMmdb: fixturePath("GeoIP2-City-Test.mmdb"),
      asnDb: fixturePath("GeoLite2-ASN-Test.mmdb"),
      companyMmdb: fixturePath("GeoIP2-Enterprise-Test.mmdb"),
    });
    const lookups = openLookups(data);
    expect(lookups.places.of("81.2.69.142")).toMatchObject({
      country: "GB",
      state: "England",
      city: "London",
    });
    expect(lookups.networks.of("1.0.0.1")).toMatchObject({ company: "Google" });
    expect(lookups.networks.of("89.160.20.112")).toMatchObject({ company: "Bevtec" });
  });

  it("come before the bundled table of organizations", async () => {
    const data = await loadLookupData({
      cityMmdb: fixturePath("GeoIP2-City-Test.mmdb"),
      asnDb: fixturePath("GeoLite2-ASN-Test.mmdb"),
      organizationsCsv: "test/fixtures/networks/own-organizations.csv",
    });
    const { networks } = openLookups(data);
    expect(networks.of("1.0.0.1")).toMatchObject({ company: "Search", companyDomain: "search.example" });
    expect(networks.of("12.81.92.0")).toMatchObject({ connectionType: "ISP" });
  });

  const city = fixturePath("GeoIP2-City-Test.mmdb");
  const asn = fixturePath("GeoLite2-ASN-Test.mmdb");
  const text = fileURLToPath(import.meta.url);
  const csv = createRequire(import.meta.url).resolve("@ip-location-db/asn/asn-ipv6.csv");
  const broken = fixturePath("GeoIP2-City-Test-Broken-Double-Format.mmdb");
  const miscounted = fixturePath("GeoIP2-City-Test-Invalid-Node-Count.mmdb");

  it.each([
    [{ cityMmdb: broken }, `The database ${broken} is damaged or not an MMDB file: `],
    [{ cityMmdb: miscounted }, `The database ${miscounted} is damaged or not an MMDB file: `],
    [{ companyMmdb: text }, `The database ${text} is damaged or not an MMDB file: it has no MMDB metadata`],
    [{ cityMmdb: csv }, `The database ${csv} is damaged or not an MMDB file: it has no MMDB metadata`],
    [{ cityMmdb: "/nowhere/city.mmdb" }, "The city database /nowhere/city.mmdb cannot be read: ENOENT"],
    [{ asnDb: "/nowhere/asn.csv" }, "The ASN database /nowhere/asn.csv cannot be read: ENOENT"],
    [{ companyMmdb: "/" }, "The company database / cannot be read: EISDIR"],
    [{ cityMmdb: asn }, `The city database ${asn} is a different kind of MMDB`],
    [{ organizationsCsv: "/nowhere/o.csv" }, "The organization table /nowhere/o.csv cannot be read: ENOENT"],
    [{ organizationsCsv: text }, `${text}: line 1 must be name,domain,kind,numbers,match`],
    [{ asnDb: city }, `The ASN database ${city} is a different kind of MMDB`],
    [{ companyMmdb: city }, `The company database ${city} is a different kind of MMDB`],
  ])("are refused with a sentence that names the file: %j", async (paths, message) => {
    // Besides one that is wrong, small ones: the bundled ones take a second to read.
    await expect(loadLookupData({ cityMmdb: city, asnDb: asn, ...paths })).rejects.toThrow(message);
  });
});
