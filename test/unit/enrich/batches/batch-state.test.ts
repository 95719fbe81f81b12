import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClickHouseClient } from "@clickhouse/client";
import {
  addRefused,
  formatNote,
  formatRanges,
  newNote,
  parseRanges,
  refusedEnd,
  resumeNote,
  type RangeNote,
  type BatchRecord,
} from "../../../../enrich/batches/batch-state.js";
import { openRange } from "../../../../enrich/batches/begin-batch.js";
import type { LogBatch } from "../../../../schemas/records/event-log.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/one-server.js";

describe("the note of a range", () => {
  test("carries over a crash what decides the rows of its tokens", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.uuid(), { maxLength: 20 }),
        fc.uniqueArray(fc.nat(50), { maxLength: 20 }),
        fc.dictionary(fc.constantFrom("0", "1.1", "2.0.1"), fc.nat(60)),
        (skippedImports, excluded, refused) => {
          const note = newNote(skippedImports);
          for (const index of excluded) note.excluded.set(index, `reason ${index}`);
          for (const [name, to] of Object.entries(refused)) note.refused.set(name, to);
          const resumed = resumeNote(formatNote(note));
          expect(resumed.skippedImports).toEqual(skippedImports);
          expect(new Map(resumed.excluded)).toEqual(new Map(note.excluded));
          expect(resumed.refused).toEqual(note.refused);
          expect(resumed.attempts).toBe(2);
        },
      ),
    );
  });

  test("keeps the shard that the rows went to, and needs none of one server", () => {
    expect(resumeNote(formatNote(newNote([], "eu-1"))).shard).toBe("eu-1");
    expect(formatNote(newNote([]))).toBe('{"attempts":1}');
    expect(resumeNote('{"attempts":1}').shard).toBeUndefined();
  });

  test("counts a crash for the record that was being enriched, and none where it was not", () => {
    let note = newNote([]);
    note.enriching = 4;
    note = resumeNote(formatNote(note));
    expect([...note.crashes]).toEqual([[4, 1]]);
    note = resumeNote(formatNote(note));
    expect([...note.crashes]).toEqual([[4, 1]]);
    note.enriching = 4;
    expect([...resumeNote(formatNote(note)).crashes]).toEqual([[4, 2]]);
  });

  test("never exceeds 3 KB: reasons go first, and what is excluded stays", () => {
    const note = newNote(Array.from({ length: 100 }, () => "01990000-0000-7000-8000-0000000000aa"));
    for (let index = 0; index < 500; index += 2) note.excluded.set(Math.floor(index / 20), "ä".repeat(2_000));
    const text = formatNote(note);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_000);
    expect([...resumeNote(text).excluded.keys()]).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  test("names the smallest refused blocks alone: those that they are halves of were refused as well", () => {
    const note = newNote([]);
    for (const [name, to] of Object.entries({ "0": 16, "0.0": 8, "0.0.1": 8, "0.1": 16, "1": 20, "10": 30 }))
      addRefused(note, { name, to });
    expect(Object.fromEntries(note.refused)).toEqual({ "0": 16, "0.0.1": 8, "0.1": 16, "1": 20, "10": 30 });
    const resumed = resumeNote(formatNote(note));
    const ends = ["0", "0.0", "0.0.0", "0.0.1", "0.1", "0.1.0", "1", "1.0", "2"].map((name) =>
      refusedEnd(resumed, { name, to: 8 }),
    );
    expect(ends).toEqual([16, 8, undefined, 8, 16, undefined, 20, undefined, undefined]);
  });

  test.each([
    [[], ""],
    [[7], "7"],
    [[9, 3, 4, 5], "3-5,9"],
    [[0, 1, 3], "0-1,3"],
  ])("writes the numbers %j as %j, and reads them back", (numbers, text) => {
    expect(formatRanges(numbers)).toBe(text);
    expect(parseRanges(text)).toEqual([...numbers].sort((a, b) => a - b));
  });
});

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
