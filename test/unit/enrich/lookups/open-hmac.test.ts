import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openHmac } from "../../../../enrich/lookups/open-ids.js";

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
