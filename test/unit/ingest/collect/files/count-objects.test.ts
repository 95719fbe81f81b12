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

/** In quadratic time this would take minutes, and the test its time limit. */
test.each(['{"a":"', '{"a":"\\', '{"', "{{", "{}", '\\"'])(
  "2 MiB of %s are counted in linear time",
  (part) => {
    expect(countObjects(`{${part.repeat(2 ** 21 / part.length)}`)).toBeUndefined();
  },
);
