import { expect, test } from "vitest";
import { objectBlocks } from "../../../bench/common/event-files.js";

const SPARED = [
  "",
  " \t",
  "[1,2,3]",
  "42",
  "null",
  '"{"',
  '{"$time":1',
  '{"$time":1}}',
  "{'$time':1}",
  "time=1",
];

test("spares the peer lines that are no objects, and keeps objects as they are, also across blocks", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `{"$time": ${index},"name":"größte Auswahl"}`);
  const blocks = [...objectBlocks([...SPARED, ...lines, ...SPARED])];
  expect(Buffer.concat(blocks).toString()).toBe(lines.map((line) => `${line}\n`).join(""));
});
