import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClickHouseClient } from "@clickhouse/client";
import {
  type BatchChunk,
  type BatchState,
  addRefused,
  formatRanges,
  formatState,
  newState,
  parseRanges,
  refusedEnd,
  resumeState,
} from "../../../../enrich/batches/batch-state.js";
import { openBatch } from "../../../../enrich/batches/begin-batch.js";
import type { LogBatch } from "../../../../schemas/records/event-log.js";
import { oneServer } from "../../../../deploy/stores/clickhouse/connect-shards.js";

describe("a batch as recorded", () => {
  test("carries over a crash what decides the rows of its tokens", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.uuid(), { maxLength: 20 }),
        fc.uniqueArray(fc.nat(50), { maxLength: 20 }),
        fc.dictionary(fc.constantFrom("0", "1.1", "2.0.1"), fc.nat(60)),
        (skippedImports, excluded, refused) => {
          const state = newState(skippedImports);
          for (const index of excluded) state.excluded.set(index, `reason ${index}`);
          for (const [name, to] of Object.entries(refused)) state.refused.set(name, to);
          const resumed = resumeState(formatState(state));
          expect(resumed.skippedImports).toEqual(skippedImports);
          expect(new Map(resumed.excluded)).toEqual(new Map(state.excluded));
          expect(resumed.refused).toEqual(state.refused);
          expect(resumed.attempts).toBe(2);
        },
      ),
    );
  });

  test("keeps the shard that the rows went to, and needs none of one server", () => {
    expect(resumeState(formatState(newState([], { shard: "eu-1" }))).shard).toBe("eu-1");
    expect(formatState(newState([]))).toBe('{"attempts":1,"basis":""}');
    expect(resumeState(formatState(newState([]))).shard).toBeUndefined();
  });

  test("counts a crash for the chunk that was being enriched, and none where it was not", () => {
    let state = newState([]);
    state.enriching = 4;
    state = resumeState(formatState(state));
    expect([...state.crashes]).toEqual([[4, 1]]);
    state = resumeState(formatState(state));
    expect([...state.crashes]).toEqual([[4, 1]]);
    state.enriching = 4;
    expect([...resumeState(formatState(state)).crashes]).toEqual([[4, 2]]);
  });

  test("never exceeds 3 KB: reasons go first, and what is excluded stays", () => {
    const state = newState(Array.from({ length: 100 }, () => "01990000-0000-7000-8000-0000000000aa"));
    for (let index = 0; index < 500; index += 2)
      state.excluded.set(Math.floor(index / 20), "ä".repeat(2_000));
    const text = formatState(state);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3_000);
    expect([...resumeState(text).excluded.keys()]).toEqual(Array.from({ length: 25 }, (_, index) => index));
  });

  test("names the smallest refused blocks alone: those that they are halves of were refused as well", () => {
    const state = newState([]);
    for (const [name, to] of Object.entries({ "0": 16, "0.0": 8, "0.0.1": 8, "0.1": 16, "1": 20, "10": 30 }))
      addRefused(state, { name, to });
    expect(Object.fromEntries(state.refused)).toEqual({ "0": 16, "0.0.1": 8, "0.1": 16, "1": 20, "10": 30 });
    const resumed = resumeState(formatState(state));
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

const CHUNKS = 10_000;
const chunks = Array.from({ length: CHUNKS }, (_, index): BatchChunk => {
  return { index, offset: index, value: Buffer.alloc(0), unreadable: "", head: undefined };
});

/** As a block is halved until one chunk is left. */
function pathTo(index: number): string {
  const path = ["0"];
  for (let from = 0, to = CHUNKS; to - from > 1;) {
    const middle = from + Math.ceil((to - from) / 2);
    path.push(index < middle ? "0" : "1");
    [from, to] = index < middle ? [from, middle] : [middle, to];
  }
  return path.join(".");
}

function open(state: BatchState) {
  const recorded: string[] = [];
  const logBatch = { recordRange: async (text: string) => void recorded.push(text) } as unknown as LogBatch;
  const batch = openBatch(logBatch, chunks, {
    state,
    shards: oneServer({} as ClickHouseClient),
    again: (_, work) => work(),
    mutex: { lock: async () => undefined, unlock: () => undefined },
    stopping: new AbortController().signal,
  });
  return { batch, recorded };
}

const longest = (recorded: readonly string[]) =>
  Math.max(0, ...recorded.map((text) => Buffer.byteLength(text)));

test("a batch as recorded fits into 3 KB and says all that is excluded, however much goes wrong with how many chunks", async () => {
  const faults = fc.record({
    index: fc.nat(CHUNKS - 1),
    refused: fc.boolean(),
    enriched: fc.boolean(),
    reason: fc.string({ unit: "binary", maxLength: 400 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.uuid(), { maxLength: 60 }),
      fc.uniqueArray(faults, { selector: ({ index }) => index, maxLength: 250, size: "max" }),
      fc.array(fc.nat(CHUNKS - 1), { maxLength: 30 }),
      fc.boolean(),
      async (skippedImports, unsorted, crashed, refusing) => {
        const state = {
          ...newState(skippedImports),
          attempts: 5,
          crashes: new Map(crashed.map((index) => [index, 4])),
        };
        const { batch, recorded } = open(state);
        for (const { index, refused, enriched, reason } of unsorted.sort((a, b) => a.index - b.index)) {
          await (enriched ? batch.begin(index) : batch.save());
          await batch.end();
          const block = { name: pathTo(index), from: index, to: index + 1 };
          for (const each of refused && refusing ? [{ ...block, name: "0", to: CHUNKS }, block] : [])
            batch.refuse(each);
          await batch.exclude(index, { reason, tries: 3, unwrittenFrom: index });
          expect(state.excluded.get(index)).toBe(reason);
        }
        const last = resumeState(recorded.at(-1) ?? '{"attempts":5}');
        expect([...last.excluded.keys()].sort((a, b) => a - b)).toEqual(
          [...state.excluded.keys()].sort((a, b) => a - b),
        );
        expect(longest(recorded)).toBeLessThanOrEqual(3_000);
      },
    ),
    { numRuns: 3 },
  );
});

test("chunks that are not written yet are all excluded where scattered faults would not fit", async () => {
  const { batch, recorded } = open(newState([]));
  for (let index = 4; index < CHUNKS; index += 10)
    await batch.exclude(index, { reason: "", tries: 3, unwrittenFrom: index });
  expect(longest(recorded)).toBeLessThanOrEqual(3_000);
  const { excluded } = resumeState(recorded.at(-1) ?? "");
  const wanted = chunks.filter(({ index }) => !excluded.has(index)).map(({ index }) => index);
  expect(wanted.length).toBeGreaterThan(4_000);
  expect(excluded.size + wanted.length).toBe(CHUNKS);
  const [last = 0] = wanted.slice(-1);
  expect(wanted).toEqual(
    chunks
      .slice(0, last + 1)
      .map(({ index }) => index)
      .filter((index) => index % 10 !== 4),
  );
});
