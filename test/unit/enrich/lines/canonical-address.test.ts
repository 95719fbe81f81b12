import { isIP, isIPv4 as isIPv4OfNode } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalAddress, isIPv4 } from "../../../../enrich/lines/canonical-address.js";

const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });

const written = (numbers: readonly number[]) => numbers.map((group) => group.toString(16)).join(":");
const inFull = (numbers: readonly number[]) =>
  numbers.map((group) => group.toString(16).toUpperCase().padStart(4, "0")).join(":");

describe("canonicalAddress", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::", "::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:DB8::00AB", "2001:db8::ab"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["fe80::1%eth0", "fe80::1"],
    ["fe80::1%25en0%x", "fe80::1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1%eth0", "192.0.2.1"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ])("writes %s as %s", (address, canonical) => {
    expect(canonicalAddress(address)).toBe(canonical);
  });

  test("writes equal addresses equally, and its own text as it is", () => {
    fc.assert(
      fc.property(groups, (numbers) => {
        const canonical = canonicalAddress(written(numbers));
        expect(canonicalAddress(inFull(numbers))).toBe(canonical);
        expect(canonicalAddress(canonical)).toBe(canonical);
      }),
    );
  });

  test("writes different addresses differently", () => {
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const same = canonicalAddress(written(one)) === canonicalAddress(written(other));
        expect(same).toBe(inFull(one) === inFull(other));
      }),
    );
  });

  test("takes whatever isIP takes", () => {
    const likely = fc.stringMatching(/^[0-9a-f:.]{2,24}(%[a-z0-9]{1,4})?$/);
    fc.assert(
      fc.property(fc.oneof(likely, fc.ipV6(), fc.ipV4()), (text) => {
        fc.pre(isIP(text) !== 0);
        expect(isIP(canonicalAddress(text))).toBeGreaterThan(0);
      }),
    );
  });
});

test("isIPv4 takes what Node's does", () => {
  const parts = fc.array(
    fc.oneof(fc.nat(300).map(String), fc.constantFrom("", "0", "00", "01", "1e1", " 1", "256")),
    {
      minLength: 3,
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV4(),
        parts.map((numbers) => numbers.join(".")),
        fc.stringMatching(/^[0-9.]{0,16}$/),
      ),
      (text) => {
        expect([text, isIPv4(text)]).toEqual([text, isIPv4OfNode(text)]);
      },
    ),
    { numRuns: 2_000 },
  );
});
