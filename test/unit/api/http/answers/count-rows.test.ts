import { type RecordBatch, RecordBatchStreamWriter, tableFromArrays } from "apache-arrow";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countRows } from "../../../../../api/http/answers/count-rows.js";
import type { ExportFormat } from "../../../../../schemas/contracts/export-format.js";

/** The bytes in parts that are cut anywhere; each is overwritten once it was counted. */
function counted(format: ExportFormat, bytes: Buffer, places: readonly number[]): number {
  const count = countRows(format);
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  ends.sort((a, b) => a - b);
  return ends
    .map((end, index) => {
      const part = Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end));
      const rows = count.add(part);
      part.fill("\n");
      return rows;
    })
    .reduce((a, b) => a + b, 0);
}

const places = fc.array(fc.nat(), { maxLength: 30 });
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

test.each([
  ["csv", 9],
  ["ndjson", 10],
] as const)("of ten lines of %s, %i are rows, however they are cut", (format, rows) => {
  fc.assert(
    fc.property(places, (at) => {
      expect(counted(format, Buffer.from("a,b\n".repeat(10)), at)).toBe(rows);
    }),
  );
});

test("counts the rows of every record batch of a stream of Arrow, however it is cut", () => {
  fc.assert(
    fc.property(sizes, places, (lengths, at) => {
      const batches = lengths.flatMap((length) => batchesOf(length));
      const bytes = Buffer.from(RecordBatchStreamWriter.writeAll(batches).toUint8Array(true));
      expect(counted("arrow", bytes, at)).toBe(lengths.reduce((a, b) => a + b, 0));
    }),
    { numRuns: 50 },
  );
});

function batchesOf(length: number): RecordBatch[] {
  return tableFromArrays({ n: Int32Array.from({ length }, (_, index) => index) }).batches;
}
