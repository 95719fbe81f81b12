import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventBlock, type EventOrigin } from "../../../../enrich/native/event-block.js";
import { decodeLine } from "../../../../enrich/lines/decode-line.js";
import { readVariables } from "../../../../enrich/lines/read-variables.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { endpointId, originId } from "../../../../enrich/lookups/open-ids.js";
import {
  chunkOf,
  dockerPackage,
  eventOf,
  ids,
  IMPORT_ID,
  PACKAGE_ID,
  PIXEL_ID,
  RECEIVED_AT,
} from "../lines/chunk-of.js";
import { readBlock, readRows } from "./read-block.js";

const origin: EventOrigin = {
  importId: IMPORT_ID,
  keyPrefix: IMPORT_ID,
  receiptStamp: RECEIVED_AT,
  firstLine: 1,
};

const full = eventOf({
  line: 3,
  uniqueId: "pull-1",
  version: "1.2.3",
  domain: "get.example",
  referer: "https://docs.example/",
  userAgent: "docker/27.0 é",
  variables: ["channel", "beta", "arch", "arm64"],
  client: { client: "docker", clientVersion: "27.0", platform: "linux", automated: "ci" },
  place: {
    country: "NL",
    state: "Utrecht",
    city: "Utrecht",
    postal: "3511",
    latitude: 52.5,
    longitude: 5.25,
  },
  network: {
    company: "Example",
    companyDomain: "example.com",
    connectionType: "business",
    cloudProvider: "Cloud",
    cloudProviderDomain: "cloud.example",
  },
  address: "192.0.2.1",
});

function rowOf(event: Parameters<EventBlock["add"]>[0], from = origin): Record<string, unknown> {
  const block = new EventBlock(ids);
  block.add(event, from);
  return readRows(block.encode())[0] ?? {};
}

describe("EventBlock", () => {
  test("writes all that is known of an event", () => {
    expect(rowOf(full)).toEqual({
      artifact: PACKAGE_ID,
      kind: 1,
      library_type: "docker",
      time: BigInt(RECEIVED_AT),
      unique_key: "id pull-1",
      version: BigInt(RECEIVED_AT) * 2n ** 20n + 2n,
      import_id: IMPORT_ID,
      sign: 1,
      type: "image-pull",
      package_version: "1.2.3",
      domain: "get.example",
      referer: "https://docs.example/",
      user_agent: "docker/27.0 é",
      variables: [
        ["channel", "beta"],
        ["arch", "arm64"],
      ],
      client: "docker",
      client_version: "27.0",
      platform: "linux",
      origin_id: originId(ids, "192.0.2.1", "docker/27.0 é"),
      endpoint_id: endpointId(ids, "192.0.2.1"),
      latitude: 52.5,
      longitude: 5.25,
      country: "NL",
      state: "Utrecht",
      city: "Utrecht",
      postal: "3511",
      company: "Example",
      company_domain: "example.com",
      connection_type: "business",
      cloud_provider: "Cloud",
      cloud_provider_domain: "cloud.example",
      automated: "ci",
    });
  });

  test("makes the ids of its addresses once", () => {
    let made = 0;
    const endpoints = (words: Uint32Array) => {
      made += 1;
      return ids.endpoints(words);
    };
    const block = new EventBlock({ ...ids, endpoints });
    for (const blocks of [1, 2]) {
      block.add(full, origin);
      block.encode();
      expect(made).toBe(blocks);
    }
  });

  test("writes what is not known as empty, zero and not a number", () => {
    const zeros = "0".repeat(32);
    const unknown = {
      country: "",
      company: "",
      client: "",
      origin_id: zeros,
      endpoint_id: zeros,
      latitude: NaN,
    };
    expect(rowOf(eventOf())).toMatchObject({ ...unknown, longitude: NaN, variables: [] });
  });

  test("writes the events of pixels as such", () => {
    const artifact = { ...dockerPackage, kind: "pixel", id: PIXEL_ID, libraryType: "" } as const;
    expect(rowOf(eventOf({ artifact }))).toMatchObject({ artifact: PIXEL_ID, kind: 2, library_type: "" });
  });

  test("names its columns in the order in which it writes them", () => {
    const block = new EventBlock(ids);
    const names = readBlock(block.encode()).columns.map(({ name }) => name);
    expect(block.insertQuery).toBe(`INSERT INTO events (${names.join(", ")}) FORMAT Native`);
  });

  test("keys an event without a unique id by its chunk's prefix and line, apart from every unique id", () => {
    const live = { ...origin, importId: NIL_UUID, keyPrefix: IMPORT_ID };
    expect(rowOf(eventOf({ line: 9 }), live)).toMatchObject({
      import_id: NIL_UUID,
      unique_key: `line ${IMPORT_ID} 9`,
    });
    expect(rowOf(eventOf({ uniqueId: `line ${IMPORT_ID} 9` })).unique_key).toBe(`id line ${IMPORT_ID} 9`);
  });

  test("orders versions by receipt, then by line within the chunk, in 64 bits", () => {
    const stamps = fc.integer({ min: 1, max: 8_000_000_000_000 });
    fc.assert(
      fc.property(
        stamps,
        fc.nat(2 ** 20 - 1),
        fc.integer({ min: 1, max: 2 ** 40 }),
        (stamp, line, firstLine) => {
          const from = { ...origin, receiptStamp: stamp, firstLine };
          const version = BigInt(stamp) * 2n ** 20n + BigInt(line);
          expect(rowOf(eventOf({ line: firstLine + line }), from).version).toBe(version);
        },
      ),
    );
  });

  test("keeps nothing of an earlier block", () => {
    const block = new EventBlock(ids);
    for (let row = 0; row < 1000; row++) block.add(full, origin);
    expect(readRows(block.encode())).toHaveLength(1000);
    block.clear();
    block.add(eventOf(), origin);
    expect(readRows(block.encode())).toEqual([rowOf(eventOf())]);
    expect(readBlock(block.encode()).rest).toBe(0);
  });
});

/** Adds lines with 64 names each that no other block has. */
function addBlock(block: EventBlock, number: number): void {
  for (let line = 1; line <= 100; line++) {
    const nameOf = (name: number) => `name ${name} of line ${line} in block ${number}`.padEnd(100, "x");
    const names = Array.from({ length: 64 }, (_, name) => `"${nameOf(name)}":"v"`);
    const decoded = decodeLine({ bytes: Buffer.from(`{${names.join()}}`), line }, chunkOf(""));
    const variables = "fields" in decoded ? readVariables(decoded.fields, []) : [];
    expect(variables).toHaveLength(128);
    block.add(eventOf({ line, variables }), origin);
  }
  block.encode();
  block.clear();
}

test("names of variables take the memory of one block, however many different ones there are", () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const heldBytes = () => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const block = new EventBlock(ids);
  for (let number = 0; number < 2; number++) addBlock(block, number);
  const before = heldBytes();
  // 128,000 names, of 12.8 MB without what holds them.
  for (let number = 2; number < 22; number++) addBlock(block, number);
  expect(heldBytes() - before).toBeLessThan(4_000_000);
});
