import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeBlock,
  FixedColumn,
  LowCardinalityColumn,
  TextColumn,
  TextMapColumn,
} from "../../../../enrich/native/columns.js";
import { readBlock, readRows } from "./read-block.js";

const hexOf = (parts: readonly Buffer[]) => Buffer.concat(parts).toString("hex");
const text = (value: string) => Buffer.from([value.length, ...Buffer.from(value)]).toString("hex");

describe("encodeBlock", () => {
  test("writes columns and rows, then each column's name, type and data", () => {
    const id = new FixedColumn("Int32");
    const name = new TextColumn();
    for (const value of [1, 2]) id.sink.writeUint32(value);
    for (const value of ["a", "é"]) name.add(value);
    expect(hexOf(encodeBlock({ id, name }, 2))).toBe(
      [
        "02",
        "02",
        text("id"),
        text("Int32"),
        "01000000",
        "02000000",
        text("name"),
        text("String"),
        "0161",
        "02c3a9",
      ].join(""),
    );
  });

  test("writes repeated texts as a dictionary and indexes", () => {
    const country = new LowCardinalityColumn();
    for (const value of ["NL", "DE", "DE", "", "NL"]) country.add(value);
    const version = "0100000000000000";
    const flags = "0206000000000000";
    const keys = ["0300000000000000", text("NL"), text("DE"), text("")];
    const indexes = ["0500000000000000", "00000000", "01000000", "01000000", "02000000", "00000000"];
    const header = ["01", "05", text("country"), text("LowCardinality(String)")];
    expect(hexOf(encodeBlock({ country }, 5))).toBe(
      [...header, version, flags, ...keys, ...indexes].join(""),
    );
  });

  test("writes maps as where each row ends, then all names, then all values", () => {
    const variables = new TextMapColumn();
    variables.add(["a", "1", "b", "2"]);
    variables.add([]);
    variables.add(["c", ""]);
    const ends = ["0200000000000000", "0200000000000000", "0300000000000000"];
    const header = ["01", "03", text("variables"), text("Map(String, String)")];
    const body = [text("a"), text("b"), text("c"), text("1"), text("2"), text("")];
    expect(hexOf(encodeBlock({ variables }, 3))).toBe([...header, ...ends, ...body].join(""));
  });

  test("writes bytes that are no UTF-8 as they are", () => {
    const bytes = new TextColumn();
    bytes.addBytes(Buffer.from([0xff, 0x00, 0x0a]));
    expect(hexOf(bytes.data())).toBe("03ff000a");
  });
});

describe("columns", () => {
  const texts = fc.oneof(fc.constantFrom("", "a", "é", "constructor"), fc.string({ unit: "grapheme" }));
  const rows = fc.array(
    fc.record({ plain: texts, repeated: texts, map: fc.array(fc.tuple(texts, texts), { maxLength: 4 }) }),
  );

  const columns = { plain: new TextColumn(), repeated: new LowCardinalityColumn(), map: new TextMapColumn() };

  test("are read back as they were written, also when they are used again", () => {
    fc.assert(
      fc.property(rows, (written) => {
        for (const column of Object.values(columns)) column.clear();
        for (const { plain, repeated, map } of written) {
          columns.plain.add(plain);
          columns.repeated.add(repeated);
          columns.map.add(map.flat());
        }
        const block = encodeBlock(columns, written.length);
        expect(readRows(block)).toEqual(written);
        expect(readBlock(block).rest).toBe(0);
      }),
    );
  });

  test("begin each block with a dictionary of its own", () => {
    const column = new LowCardinalityColumn();
    column.add("old");
    column.clear();
    column.add("");
    column.add("new");
    expect(readRows(encodeBlock({ column }, 2))).toEqual([{ column: "" }, { column: "new" }]);
  });

  test("hold more different texts than two bytes can count", () => {
    const column = new LowCardinalityColumn();
    const values = Array.from({ length: 70_000 }, (_, n) => `agent ${n}`);
    for (const value of values) column.add(value);
    expect(readBlock(encodeBlock({ column }, values.length)).columns[0]?.values).toEqual(values);
  });
});
