import { describe, expect, test } from "vitest";
import { noteLabels } from "../../../../../api/web/charts/note-labels.js";
import { noteOfSpike } from "../../../../../api/dashboard/statistics/noted-days.js";

const note = (text: string, more: object = {}) => ({ id: text, date: "2026-11-03", text, ...more });

describe("the text of a note stands beside its mark", () => {
  const labelled = (places: readonly [index: number, ...texts: string[]][]) =>
    Object.fromEntries(
      noteLabels({
        placed: places.map(([index, ...texts]) => ({ index, notes: texts.map((text) => note(text)) })),
        count: 101,
      }),
    );

  test("on a narrow chart, where no other is near", () => {
    expect(labelled([[10, "1.4 is released"]])).toEqual({
      10: { text: "1.4 is released", side: "right", step: 280 },
    });
  });

  test("on a wide one, where the next is near, and not where it is nearer", () => {
    expect(
      labelled([
        [10, "1.4 is released"],
        [23, "1.5 is released"],
        [25, "Moved"],
        [30, "Down"],
      ]),
    ).toEqual({
      10: { text: "1.4 is released", side: "right", step: 1000 },
      30: { text: "Down", side: "right", step: 280 },
    });
  });

  test("on the other side at the end of the chart, unless a text is there", () => {
    expect(labelled([[100, "Moved"]])).toEqual({ 100: { text: "Moved", side: "left", step: 280 } });
    expect(
      labelled([
        [60, "1.4 is released"],
        [100, "Moved"],
      ]),
    ).toEqual({
      60: { text: "1.4 is released", side: "right", step: 600 },
    });
  });

  test("cut, and with the number of the others of its place", () => {
    const text = "ä".repeat(200);
    expect(labelled([[0, text, "Moved"]])[0]?.text).toBe(`${"ä".repeat(39)}… +1`);
  });

  test("with more room in scripts of wide letters", () => {
    expect(labelled([[80, "版本一点四已经发布"]])).toEqual({
      80: { text: "版本一点四已经发布", side: "right", step: 1000 },
    });
  });
});

describe("a growth is explained by the note", () => {
  const range = { startDate: "2026-11-01" };
  const days = [10, 12, 90, 11, 10];
  const found = (...notes: ReturnType<typeof note>[]) =>
    noteOfSpike({ package: "web", days }, { notes, range })?.text;

  test.each([
    ["of a day with more than twice the usual", note("Crawler"), "Crawler"],
    [
      "of several days with such a day",
      note("Crawler", { date: "2026-10-30", end_date: "2026-11-03" }),
      "Crawler",
    ],
    ["of this package", note("Crawler", { package_id: "web" }), "Crawler"],
    ["of no other package", note("Crawler", { package_id: "cli" }), undefined],
    ["of no usual day", note("Released", { date: "2026-11-04" }), undefined],
    ["of no day before", note("Old", { date: "2026-10-03" }), undefined],
    ["of no day after", note("Soon", { date: "2026-12-03" }), undefined],
  ])("%s", (_, given, expected) => {
    expect(found(given)).toBe(expected);
  });

  test("of the package whose page has only its own notes", () => {
    const notes = [note("Crawler", { package_id: "web" })];
    expect(noteOfSpike({ days }, { notes, range })?.text).toBe("Crawler");
  });

  test("of the greatest day", () => {
    const other = noteOfSpike(
      { package: "web", days: [...days, 200] },
      { notes: [note("Crawler"), note("News", { date: "2026-11-06" })], range },
    );
    expect(other?.text).toBe("News");
  });
});
