import fc from "fast-check";
import { expect, test } from "vitest";
import { readObjects } from "../../../../../ingest/collect/files/read-objects.js";

test("reads JSON objects however they are spaced, each on one line", () => {
  const spaced = fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.stringMatching(/^[ \t\r\n]{0,3}$/));
  fc.assert(
    fc.property(fc.array(spaced, { maxLength: 20 }), (objects) => {
      const texts = objects.map(([object]) => JSON.stringify(object));
      const body = objects.map(([, space], index) => `${texts[index]}${space}`).join("");
      expect(readObjects(body, 20)).toEqual(texts);
    }),
  );
});

test("takes line breaks out of an object, and nothing else", () => {
  expect(readObjects('{\n "a" :\r\n1.0,"a":"\\n"}', 1)).toEqual(['{  "a" : 1.0,"a":"\\n"}']);
});

test.each(["1", "[]", "null", "{} 1", "{},{}", "{", '{"a":"}', "}{", "{}x", '"{}"', "{'a':1}", "\ufeff{}"])(
  "%s is no row of objects",
  (text) => {
    expect(readObjects(text, 100)).toBeUndefined();
  },
);

/** In quadratic time this would take minutes, and the test its time limit. */
test.each(['{"a":"', '{"a":"\\', '{"', "{{", "{}", '\\"'])(
  "2 MiB of %s are counted in linear time",
  (part) => {
    expect(readObjects(`{${part.repeat(2 ** 21 / part.length)}`, Infinity)).toBeUndefined();
  },
);

test("reads no more objects than show that there are too many", () => {
  expect(readObjects(`${"{}".repeat(30_000)} no object`, 100)).toHaveLength(101);
});
