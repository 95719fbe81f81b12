import fc from "fast-check";
import { expect, test } from "vitest";
import { countObjects } from "../../../../../ingest/collect/files/count-objects.js";

test("counts JSON objects however they are spaced", () => {
  const spaced = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.stringMatching(/^[ \t\r\n]{0,3}$/));
  fc.assert(
    fc.property(fc.array(spaced, { maxLength: 20 }), (objects) => {
      const text = objects.map(([object, space]) => JSON.stringify(object) + space).join("");
      expect(countObjects(text)).toBe(objects.length);
    }),
  );
});

test.each(["1", "[]", "null", "{} 1", "{},{}", "{", '{"a":"}', "}{", "{}x", '"{}"', "{'a':1}", "\ufeff{}"])(
  "%s is no row of objects",
  (text) => {
    expect(countObjects(text)).toBeUndefined();
  },
);

test.each(['{"a":"', '{"a":"\\', '{"', "{{", "{}"])("64 KiB of %s take no longer than they must", (part) => {
  const startedAt = performance.now();
  countObjects(`{${part.repeat(65_536 / part.length)}`);
  countObjects(`{"${'\\"'.repeat(32_768)}`);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
