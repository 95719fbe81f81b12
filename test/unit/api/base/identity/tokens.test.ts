import { describe, expect, test } from "vitest";
import { createTokenCipher, looksLike } from "../../../../../api/base/identity/tokens.js";
import { coarseNetwork } from "../../../../../api/base/identity/client-address.js";
import { testTable } from "../../../../support/test-table.js";

const key = Buffer.alloc(32, 7);
const cipher = createTokenCipher(key);

describe("tokens", () => {
  test("have a recognisable prefix and 256 random bits", () => {
    const issued = Array.from({ length: 100 }, () => cipher.issue());
    expect(issued.every((token) => looksLike("token", token))).toBe(true);
    expect(new Set(issued).size).toBe(100);
  });

  test("of another kind are no tokens", () => {
    for (const kind of ["session", "link"] as const) {
      const secret = cipher.issue(kind);
      expect(looksLike(kind, secret)).toBe(true);
      expect(looksLike("token", secret)).toBe(false);
    }
  });

  test("are found again by a hash that needs the secret key", () => {
    const token = cipher.issue();
    const other = createTokenCipher(Buffer.alloc(32, 8));
    expect(cipher.hash(token)).toEqual(createTokenCipher(key).hash(token));
    expect(cipher.hash(token)).not.toEqual(other.hash(token));
    expect(cipher.matches(token, cipher.hash(token))).toBe(true);
    expect(cipher.matches(token, cipher.hash(cipher.issue()))).toBe(false);
    expect(cipher.matches(token, Buffer.alloc(3))).toBe(false);
  });

  test("are shown again from a ciphertext that only opens for its account", () => {
    const token = cipher.issue();
    const sealed = cipher.seal(token, "account-1");
    expect(cipher.open(sealed, "account-1")).toBe(token);
    expect(() => cipher.open(sealed, "account-2")).toThrow();
    expect(sealed.includes(token)).toBe(false);
    expect(cipher.seal(token, "account-1")).not.toEqual(sealed);
  });

  test("do not open from a damaged ciphertext", () => {
    const sealed = cipher.seal(cipher.issue(), "account-1");
    sealed[sealed.length - 1]! ^= 1;
    expect(() => cipher.open(sealed, "account-1")).toThrow();
    expect(() => cipher.open(sealed.subarray(0, 10), "account-1")).toThrow();
  });

  test("need a key of 32 bytes, whose fingerprint is neither key nor hash", () => {
    expect(() => createTokenCipher(Buffer.alloc(31))).toThrow(RangeError);
    expect(cipher.fingerprint).toEqual(createTokenCipher(key).fingerprint);
    expect(cipher.fingerprint).not.toEqual(createTokenCipher(Buffer.alloc(32, 8)).fingerprint);
    expect(cipher.fingerprint.equals(key)).toBe(false);
  });

  test.each([
    "",
    "mtk_",
    "mtk_short",
    `mtk_${"a".repeat(44)}`,
    `xtk_${"a".repeat(43)}`,
    `mtk_${"a".repeat(42)}\0`,
  ])("are never %j", (text) => {
    expect(looksLike("token", text)).toBe(false);
  });
});

testTable("of the address %s a session keeps %j", coarseNetwork, [
  ["203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["unknown", undefined],
]);
