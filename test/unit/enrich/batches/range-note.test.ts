import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addRefused,
  formatNote,
  formatRanges,
  newNote,
  parseRanges,
  refusedEnd,
  resumeNote,
} from "../../../../enrich/batches/range-note.js";

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
