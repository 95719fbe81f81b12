import type { ClickHouseClient } from "@clickhouse/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openRange } from "../../../../enrich/batches/open-range.js";
import { newNote, resumeNote, type RangeNote } from "../../../../enrich/batches/range-note.js";
import type { BatchRecord } from "../../../../enrich/batches/read-records.js";
import type { LogBatch } from "../../../../schemas/records/event-log.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/one-server.js";

const RECORDS = 10_000;
const records = Array.from({ length: RECORDS }, (_, index): BatchRecord => {
  return { index, offset: index, value: Buffer.alloc(0), unreadable: "", head: undefined };
});

/** As a block is halved until one record is left. */
function pathTo(index: number): string {
  const path = ["0"];
  for (let from = 0, to = RECORDS; to - from > 1;) {
    const middle = from + Math.ceil((to - from) / 2);
    path.push(index < middle ? "0" : "1");
    [from, to] = index < middle ? [from, middle] : [middle, to];
  }
  return path.join(".");
}

function open(note: RangeNote) {
  const notes: string[] = [];
  const batch = { recordRange: async (text: string) => void notes.push(text) } as unknown as LogBatch;
  const range = openRange(batch, records, {
    note,
    shards: oneServer({} as ClickHouseClient),
    again: (_, work) => work(),
    mutex: { lock: async () => undefined, unlock: () => undefined },
    stopping: new AbortController().signal,
  });
  return { range, notes };
}

const longest = (notes: readonly string[]) => Math.max(0, ...notes.map((text) => Buffer.byteLength(text)));

test("the note of a range fits into 3 KB and says all that is excluded, however much goes wrong with how many records", async () => {
  const faults = fc.record({
    index: fc.nat(RECORDS - 1),
    refused: fc.boolean(),
    noted: fc.boolean(),
    reason: fc.string({ unit: "binary", maxLength: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.uuid(), { maxLength: 60 }),
      fc.uniqueArray(faults, { selector: ({ index }) => index, maxLength: 250, size: "max" }),
      fc.array(fc.nat(RECORDS - 1), { maxLength: 30 }),
      fc.boolean(),
      async (skippedImports, unsorted, crashed, refusing) => {
        const note = {
          ...newNote(skippedImports),
          attempts: 5,
          crashes: new Map(crashed.map((index) => [index, 4])),
        };
        const { range, notes } = open(note);
        for (const { index, refused, noted, reason } of unsorted.sort((a, b) => a.index - b.index)) {
          await (noted ? range.begin(index) : range.save());
          await range.end();
          const block = { name: pathTo(index), from: index, to: index + 1 };
          for (const each of refused && refusing ? [{ ...block, name: "0", to: RECORDS }, block] : [])
            range.refuse(each);
          await range.exclude(index, { reason, tries: 3, unwrittenFrom: index });
          expect(note.excluded.get(index)).toBe(reason);
        }
        const last = resumeNote(notes.at(-1) ?? '{"attempts":5}');
        expect([...last.excluded.keys()].sort((a, b) => a - b)).toEqual(
          [...note.excluded.keys()].sort((a, b) => a - b),
        );
        expect(longest(notes)).toBeLessThanOrEqual(3_000);
      },
    ),
    { numRuns: 3 },
  );
});

test("records that are not written yet are all excluded where scattered faults would not fit into the note", async () => {
  const { range, notes } = open(newNote([]));
  for (let index = 4; index < RECORDS; index += 10)
    await range.exclude(index, { reason: "", tries: 3, unwrittenFrom: index });
  expect(longest(notes)).toBeLessThanOrEqual(3_000);
  const { excluded } = resumeNote(notes.at(-1) ?? "");
  const wanted = records.filter(({ index }) => !excluded.has(index)).map(({ index }) => index);
  expect(wanted.length).toBeGreaterThan(4_000);
  expect(excluded.size + wanted.length).toBe(RECORDS);
  const [last = 0] = wanted.slice(-1);
  expect(wanted).toEqual(
    records
      .slice(0, last + 1)
      .map(({ index }) => index)
      .filter((index) => index % 10 !== 4),
  );
});
