import { describe, expect, test } from "vitest";
import { uuidBytes } from "../../../../enrich/native/byte-sink.js";
import { NIL_UUID } from "../../../../schemas/formats.js";

describe("uuidBytes", () => {
  test.each([
    [NIL_UUID, "00000000000000000000000000000000"],
    ["00112233-4455-6677-8899-aabbccddeeff", "7766554433221100ffeeddccbbaa9988"],
    ["00112233-4455-6677-8899-AABBCCDDEEFF", "7766554433221100ffeeddccbbaa9988"],
  ])("writes %s as two halves, last byte first", (uuid, hex) => {
    expect(uuidBytes(uuid).toString("hex")).toBe(hex);
  });

  test.each(["", "left-pad", "00112233-4455-6677-8899-aabbccddee", "00112233-4455-6677-8899-aabbccddeegg"])(
    "throws for %j",
    (text) => {
      expect(() => uuidBytes(text)).toThrow(RangeError);
    },
  );
});
