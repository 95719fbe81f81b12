import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endpointId, hashAgent, openIds, originId } from "../../../../enrich/lookups/open-ids.js";
import { addressOf } from "../../../../enrich/lookups/parse-address.js";
import { ids } from "../lines/chunk-of.js";

const addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "::", "255.255.255.255"];
const agents = ["curl/8", "", "größer 安定版", "x".repeat(600), `${"x".repeat(600)}y`];

describe("openIds", () => {
  it("gives different clients different ids of 128 bits, and never an endpoint the id of an origin", () => {
    const endpoints = addresses.map((address) => endpointId(ids, address));
    const origins = addresses.flatMap((address) => agents.map((agent) => originId(ids, address, agent)));
    expect(new Set([...endpoints, ...origins]).size).toBe(addresses.length * (1 + agents.length));
    expect([...endpoints, ...origins].every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  });

  // Known once and for all: an erasure names a client by the id of an export.
  it("gives a client the same ids in each release", () => {
    expect(endpointId(ids, "192.0.2.1")).toBe("86b27d1dc33a864a781c00c9cfaf14c8");
    expect(originId(ids, "192.0.2.1", "curl/8")).toBe("1bb85808396d0baf19ef5e3c0115494b");
  });

  it("gives many clients at once the ids that each has by itself", () => {
    const client = fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.constantFrom(...agents));
    fc.assert(
      fc.property(fc.array(client), (clients) => {
        const words = Uint32Array.from(clients.flatMap(([address]) => [...addressOf(address).words]));
        const hashes = Uint32Array.from(clients.flatMap(([, agent]) => [...hashAgent(agent)]));
        const hexOf = (found: Uint32Array<ArrayBuffer>) => Buffer.from(found.buffer).toString("hex");
        expect(hexOf(ids.endpoints(words))).toBe(
          clients.map(([address]) => endpointId(ids, address)).join(""),
        );
        expect(hexOf(ids.origins(ids.endpoints(words), hashes))).toBe(
          clients.map(([address, agent]) => originId(ids, address, agent)).join(""),
        );
      }),
    );
  });

  it("gives other ids under another key", () => {
    const other = openIds(Buffer.alloc(32, "other"));
    expect(endpointId(other, "192.0.2.1")).not.toBe(endpointId(ids, "192.0.2.1"));
    expect(originId(other, "192.0.2.1", "")).not.toBe(originId(ids, "192.0.2.1", ""));
  });

  it.each(["", "nowhere"])("gives no id without an address: %j", (text) => {
    expect([endpointId(ids, text), originId(ids, text, "curl/8")]).toEqual(["", ""]);
  });

  it.each([
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["2001:DB8:0:0::0001", "2001:db8::1"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
  ])("gives one address one id, spelled %s or %s", (one, other) => {
    expect(endpointId(ids, one)).toBe(endpointId(ids, other));
  });
});
