import { describe, expect, test } from "vitest";
import { csvLines } from "../../../../deploy/import/event-lines.js";

async function read(text: string): Promise<unknown[]> {
  const source = (async function* () {
    yield await Promise.resolve(Buffer.from(text));
  })();
  const lines: unknown[] = [];
  for await (const line of csvLines(source)) lines.push(line.startsWith("{") ? JSON.parse(line) : line);
  return lines;
}

describe("a CSV file", () => {
  test("has the keys in its header, whatever begins and ends its lines", async () => {
    const event = { $time: "2026-11-01", note: "a" };
    expect(await read("$time,note\n2026-11-01,a\n")).toEqual(["", event]);
    expect(await read("\ufeff$time, note\r\n2026-11-01,a")).toEqual(["", event]);
  });

  test("has no key where a cell is empty, and no event where all are", async () => {
    expect(await read("$time,a,b\n1,,x\n,,\n\n")).toEqual(["", { $time: "1", b: "x" }, "", ""]);
  });

  test("keeps the number of each line where a cell has several", async () => {
    expect(await read('$time,a\n1,"x\ny ""z"""\n2,b\n')).toEqual([
      "",
      { $time: "1", a: 'x\ny "z"' },
      "",
      { $time: "2", a: "b" },
    ]);
  });

  test("a wrong row costs that row", async () => {
    expect(await read('$time,a\n1\n2,b,c\n3,say "hi" there\n4,"open\n5,d\n')).toEqual([
      "",
      "1",
      "2,b,c",
      { $time: "3", a: 'say "hi" there' },
      '4,"open',
      { $time: "5", a: "d" },
    ]);
  });

  test("may be longer than a block", async () => {
    const rows = Array.from({ length: 2_500 }, (_, row) => `${row},"a,b"`);
    const lines = await read(`$time,a\n${rows.join("\n")}\n`);
    expect(lines).toHaveLength(2_501);
    expect(lines[2_500]).toEqual({ $time: "2499", a: "a,b" });
  });
});
