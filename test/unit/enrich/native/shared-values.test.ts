import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeBlock, FixedColumn, LowCardinalityColumn } from "../../../../enrich/native/columns.js";
import { SharedValues } from "../../../../enrich/native/shared-values.js";
import { readRows } from "./read-block.js";

interface Place {
  city: string;
  code: number;
  key: Uint8Array;
}

const places = new SharedValues<Place>();
const shared = {
  city: places.texts(({ city }) => city),
  byte: places.fixed("Enum8('a' = 1)", (sink, { code }) => sink.writeByte(code % 128)),
  number: places.fixed("Int32", (sink, { code }) => sink.writeUint32(code)),
  key: places.fixed("UUID", (sink, { key }) => sink.writeBytes(key)),
};
const plain = {
  city: new LowCardinalityColumn(),
  byte: new FixedColumn("Enum8('a' = 1)"),
  number: new FixedColumn("Int32"),
  key: new FixedColumn("UUID"),
};

function addPlain({ city, code, key }: Place): void {
  plain.city.add(city);
  plain.byte.sink.writeByte(code % 128);
  plain.number.sink.writeUint32(code);
  plain.key.sink.writeBytes(key);
}

const known = fc.record({
  city: fc.constantFrom("", "Utrecht", "Köln", "constructor"),
  code: fc.nat(),
  key: fc.uint8Array({ minLength: 16, maxLength: 16 }),
});

test("gives the bytes of columns that each row adds to, for objects shared or equal, block after block", () => {
  const rows = fc.array(known, { minLength: 1, maxLength: 5 }).chain((objects) => {
    const copies = objects.map((object) => ({ ...object }));
    return fc.array(fc.constantFrom(...objects, ...copies), { maxLength: 2_000 });
  });
  fc.assert(
    fc.property(rows, (added) => {
      places.clear();
      for (const column of Object.values(plain)) column.clear();
      for (const place of added) {
        places.add(place);
        addPlain(place);
      }
      const blocks = [shared, plain].map((columns) => Buffer.concat(encodeBlock(columns, added.length)));
      expect(blocks[0]?.equals(blocks[1] ?? Buffer.alloc(0))).toBe(true);
    }),
  );
});

test("begins each block anew, also with the object that ended the one before", () => {
  const values = new SharedValues<{ name: string }>();
  const names = values.texts(({ name }) => name);
  const [one, other] = [{ name: "one" }, { name: "other" }];
  const namesOf = (added: readonly { name: string }[]) => {
    values.clear();
    added.forEach((value) => values.add(value));
    return readRows(encodeBlock({ names }, added.length)).map((row) => row["names"]);
  };
  expect(namesOf([one, other])).toEqual(["one", "other"]);
  expect(namesOf([other, one])).toEqual(["other", "one"]);
  expect(namesOf([])).toEqual([]);
});
