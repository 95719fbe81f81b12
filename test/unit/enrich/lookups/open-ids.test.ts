import { createHmac } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { openAddressCache } from "../../../../enrich/lookups/address-cache.js";
import { openIds, openHmac } from "../../../../enrich/lookups/open-ids.js";
import fc from "fast-check";

const NUL = String.fromCharCode(0);

function open(key: string) {
  return openIds(Buffer.alloc(32, key), openAddressCache({ cacheBytesMax: 2_000 }));
}

describe("openIds", () => {
  const ids = open("key");

  const hexOf = (id: string) => Buffer.from(id, "latin1").toString("hex");
  const hmac = (text: string) =>
    createHmac("sha256", Buffer.alloc(32, "key")).update(text).digest("hex").slice(0, 32);

  it.each(["curl/8", "", "größer 安定版", "\ud800", "x".repeat(600)])(
    "hashes the address and the user agent %j with the key, to 128 bits",
    (agent) => {
      expect(hexOf(ids.origin("192.0.2.1", agent))).toBe(hmac(`origin${NUL}192.0.2.1${NUL}${agent}`));
    },
  );

  it("hashes the address alone with the key, to 128 bits", () => {
    expect(hexOf(ids.endpoint("192.0.2.1"))).toBe(hmac(`endpoint${NUL}192.0.2.1`));
  });

  it("gives equal ids to equal clients, also when they were forgotten in between", () => {
    const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1"];
    const agents = ["a", "b", "c", "d", "e", "f".repeat(600), ""];
    const askAll = () => addresses.flatMap((address) => agents.map((agent) => ids.origin(address, agent)));
    const first = askAll();
    expect(askAll()).toEqual(first);
    expect(new Set(first).size).toBe(addresses.length * agents.length);
  });

  it("gives one endpoint id to an address, whatever the user agent, and never that of its origin", () => {
    const endpoint = ids.endpoint("192.0.2.1");
    ids.origin("192.0.2.1", "other");
    expect(ids.endpoint("192.0.2.1")).toBe(endpoint);
    expect(ids.origin("192.0.2.1", "")).not.toBe(endpoint);
  });

  it("gives other ids under another key", () => {
    expect(open("other").endpoint("192.0.2.1")).not.toBe(ids.endpoint("192.0.2.1"));
  });

  it("gives no id without an address", () => {
    expect([ids.endpoint(""), ids.origin("", "curl/8")]).toEqual(["", ""]);
  });
});

test("is the HMAC-SHA256 of Node for any key and text, longer ones and shorter ones in turn", () => {
  const keys = fc
    .constantFrom(16, 32, 63, 64, 65, 130)
    .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
  const texts = fc.array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("", "\ud800", "x".repeat(9_000), "é".repeat(2_000)),
    ),
  );
  fc.assert(
    fc.property(keys, texts, (key, hashed) => {
      const hmac = openHmac(key, 16);
      const expected = (text: string) =>
        createHmac("sha256", key).update(text).digest().toString("latin1", 0, 16);
      expect(hashed.map(hmac)).toEqual(hashed.map(expected));
    }),
  );
});
