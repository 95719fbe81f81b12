import { describe, expect, test } from "vitest";
import { decodeBody } from "./decode-body.js";

const read = (header: string, rows: string) => decodeBody(rows, { format: "csv", header });

describe("a CSV body", () => {
  test("has the keys in its header, whatever begins and ends its lines", () => {
    const event = { $time: "2026-11-01", note: "a" };
    expect(read("$time,note", "2026-11-01,a\n")).toEqual([event]);
    expect(read('\ufeff$time, note,"also"', "2026-11-01,a,\r")).toEqual([event]);
  });

  test("has no key where a cell is empty, and no event where all are", () => {
    expect(read("$time,a,b", "1,,x\n,,\n\n")).toEqual([{ $time: "1", b: "x" }, "skipped"]);
  });

  test("has cells in quotes, with commas and quotes in them", () => {
    expect(read("$time,a,$user_agent", '1,"x, ""y""",z\n')).toEqual([
      { $time: "1", a: 'x, "y"', $user_agent: "z" },
    ]);
  });

  test("a line break within quotes costs its lines, and no other", () => {
    expect(read("$time,a", '1,"x\ny"\n2,b\n')).toEqual([
      expect.stringContaining("cells must not contain line breaks"),
      expect.stringContaining("it has 1 cell, the header has 2"),
      { $time: "2", a: "b" },
    ]);
  });

  test("a wrong row costs that row, and says what it has", () => {
    expect(read("$time,a", '1\n2,b,c\n3,say "hi" there\n4,"open\n5,d\n')).toEqual([
      "Invalid CSV row: it has 1 cell, the header has 2",
      "Invalid CSV row: it has 3 cells, the header has 2",
      { $time: "3", a: 'say "hi" there' },
      expect.stringContaining("a quote is not closed"),
      { $time: "5", a: "d" },
    ]);
  });

  test("a name that the header has twice is the later cell", () => {
    expect(read("$time,a,a", "1,x,y")).toEqual([{ $time: "1", a: "y" }]);
  });
});
