import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatBytes, parseBytes } from "../../../schemas/formats.js";
import { formatSize } from "../../../schemas/records/format-size.js";
import { testTable } from "../../support/test-table.js";

describe("parseBytes", () => {
  testTable("takes %s", parseBytes, [
    ["1", 1],
    ["1048576", 1_048_576],
    ["20GiB", 21_474_836_480],
    ["20 GiB", 21_474_836_480],
    ["1 KiB", 1024],
    ["3MiB", 3_145_728],
    ["2TiB", 2_199_023_255_552],
  ]);

  test.each(["", "0", "0GiB", "-1", "1.5GiB", "20GB", "20gib", "GiB", "1  GiB", " 1", "9999999999999TiB"])(
    "takes no %j",
    (text) => {
      expect(parseBytes(text)).toBeUndefined();
    },
  );
});

describe("formatBytes", () => {
  testTable("writes %d", formatBytes, [
    [1, "1 bytes"],
    [1500, "1500 bytes"],
    [2048, "2 KiB"],
    [21_474_836_480, "20 GiB"],
    [1024 ** 5, "1024 TiB"],
  ]);

  test("is read back as what it was", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (bytes) => {
        expect(parseBytes(formatBytes(bytes).replace(" bytes", ""))).toBe(bytes);
      }),
    );
  });
});

testTable("a size of %i bytes is written as %s", formatSize, [
  [512, "512 bytes"],
  [12_345_678, "11.8 MiB"],
  [150 * 1024, "150 KiB"],
  [3 * 1024 ** 4, "3072 GiB"],
]);
