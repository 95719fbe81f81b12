import fc from "fast-check";
import { expect, test } from "vitest";
import { fieldsOf, LineFields, type LineObject } from "../../../../enrich/lines/decode-line.js";

test("has the keys of an event by name and all others in order", () => {
  const fields = fieldsOf({ b: 1, $time: 2, $colour: 3, a: { c: null }, $headers: [] });
  const expected = { $time: 2, $headers: [], otherNames: ["b", "$colour", "a"] };
  expect(fields).toEqual({ ...new LineFields(), ...expected, otherValues: [1, 3, { c: null }] });
});

test("loses and invents no key of any line", () => {
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom(...Object.keys(new LineFields()), "__proto__", "constructor", "toString", "$platform"),
  );
  fc.assert(
    fc.property(fc.dictionary(names, fc.jsonValue()), (sent) => {
      const line = JSON.parse(JSON.stringify(sent)) as LineObject;
      const { otherNames, otherValues, ...named } = fieldsOf(line);
      const known = Object.entries(named).filter(([, value]) => value !== undefined);
      const others = otherNames.map((name, index) => [name, otherValues[index]]);
      const byName = (one: unknown[], other: unknown[]) => (String(one[0]) < String(other[0]) ? -1 : 1);
      expect([...known, ...others].sort(byName)).toEqual(Object.entries(line).sort(byName));
      expect(otherNames).toEqual(Object.keys(line).filter((name) => otherNames.includes(name)));
    }),
  );
});
