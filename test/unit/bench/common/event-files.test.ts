import { expect, test } from "vitest";
import { objectBlocks } from "../../../bench/common/event-files.js";

const textOf = (lines: Iterable<string>) => Buffer.concat([...objectBlocks(lines)]).toString();

test.each(["", " \t", "[1,2,3]", "42", "null", '"{"', '{"$time":1', '{"$time":1}}', "{'$time':1}", "time=1"])(
  "spares the peer the line %j",
  (line) => {
    expect(textOf(['{"a":1}', line, '{"b":2}'])).toBe('{"a":1}\n{"b":2}\n');
  },
);

test("keeps objects as they are, also across blocks", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `{"$time": ${index},"name":"größte Auswahl"}`);
  expect(textOf(lines)).toBe(lines.map((line) => `${line}\n`).join(""));
});
