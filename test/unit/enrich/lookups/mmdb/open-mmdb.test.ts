import { readFileSync } from "node:fs";
import fc from "fast-check";
import { Reader, type Response } from "mmdb-lib";
import { describe, expect, it } from "vitest";
import { openMmdb, sampleRecords, type MmdbFile } from "../../../../../enrich/lookups/mmdb/open-mmdb.js";
import { addressOf } from "../../../../../enrich/lookups/parse-address.js";
import { expectedNetworks, fixturePath } from "../mmdb-fixtures.js";

function load(name: string) {
  const path = fixturePath(`${name}.mmdb`);
  return { path, bytes: readFileSync(path) };
}

/** The file, unless samples of it show that it is damaged. */
function checked(file: MmdbFile): MmdbFile {
  sampleRecords(file, 1_000);
  return file;
}

/** A lookup by text, as `Reader.get` of mmdb-lib. */
function open(file: MmdbFile) {
  const { find, read } = openMmdb(file);
  return {
    number: (text: string) => find(addressOf(text)),
    find: (text: string) => (find(addressOf(text)) === 0 ? undefined : read(addressOf(text))),
  };
}

describe.each([
  "GeoIP2-City-Test",
  "GeoIP2-Connection-Type-Test",
  "GeoIP2-Domain-Test",
  "GeoIP2-Enterprise-Test",
  "GeoIP2-ISP-Test",
  "GeoLite2-ASN-Test",
])("%s", (name) => {
  const database = open(checked(load(name)));
  const expected = expectedNetworks(name);

  it("answers for both ends of every network what it was made from", () => {
    expect(expected.length).toBeGreaterThan(20);
    const found = expected.map(({ network, addresses }) => ({
      network,
      records: addresses.map(database.find),
    }));
    expect(found).toEqual(expected.map(({ network, record }) => ({ network, records: [record, record] })));
  });

  it("gives the same number again, so that equal answers can be told by it", () => {
    const [first, last] = expected[0]!.addresses;
    expect(database.number(first)).toBe(database.number(last));
  });
});

describe.each(["GeoIP2-City-Test", "GeoIP2-ISP-Test", "GeoLite2-ASN-Test"])(
  "the search tree of %s",
  (name) => {
    const file = load(name);
    const database = open(file);
    const reader = new Reader<Response>(file.bytes);
    const near = expectedNetworks(name).flatMap(({ addresses }) => addresses);

    it("leads each address, known or not, to the record to which mmdb-lib leads it", () => {
      const changed = fc
        .tuple(fc.constantFrom(...near), fc.nat(255))
        .map(([text, last]) => withLast(text, last));
      fc.assert(
        fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), changed), (text) => {
          expect([text, database.find(text) ?? null]).toEqual([text, reader.get(text)]);
        }),
        { numRuns: 1_000 },
      );
    });
  },
);

/** An address with another last number, so often in the same network or one beside it. */
function withLast(text: string, last: number): string {
  return text.replace(/[^.:]+$/, text.includes(":") ? last.toString(16) : String(last));
}

describe("a damaged file", () => {
  it.each([
    ["GeoIP2-City-Test-Broken-Double-Format", "it contains an invalid number"],
    ["GeoIP2-City-Test-Invalid-Node-Count", "the size of its search tree does not match its metadata"],
  ])("%s is refused, naming it", (name, reason) => {
    const file = load(name);
    expect(() => checked(file)).toThrow(`The database ${file.path} is damaged or not an MMDB file: `);
    expect(() => checked(file)).toThrow(reason);
  });

  it("is refused when it was cut off", () => {
    const { path, bytes } = load("GeoIP2-City-Test");
    expect(() => checked({ path, bytes: bytes.subarray(0, 10_000) })).toThrow("has no MMDB metadata");
  });

  it("is refused when a part in the middle is missing", () => {
    const { path, bytes } = load("GeoIP2-City-Test");
    const shortened = Buffer.concat([bytes.subarray(0, 5_000), bytes.subarray(6_000)]);
    expect(() => checked({ path, bytes: shortened })).toThrow("the size of its search tree does not match");
  });

  it("is refused or read whatever byte of it is flipped, and never crashes a lookup that follows", () => {
    const { path, bytes } = load("GeoLite2-ASN-Test");
    const addresses = expectedNetworks("GeoLite2-ASN-Test").map((each) => each.addresses[0]);
    const places = fc.sample(fc.nat(bytes.length - 1), { seed: 35, numRuns: 60 });
    for (const at of places) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 0xff;
      const readable = opens({ path, bytes: flipped });
      expect(() => readable.forEach((database) => addresses.forEach(database.find))).not.toThrow();
    }
  });
});

/** The database, or nothing where it is refused. */
function opens(file: { path: string; bytes: Buffer }) {
  try {
    return [open(checked(file))];
  } catch {
    return [];
  }
}

describe("sampleRecords", () => {
  it("reads no more records than asked for", () => {
    expect(sampleRecords(load("GeoIP2-City-Test"), 3)).toHaveLength(3);
  });
});
