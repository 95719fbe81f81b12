import { expect, test } from "vitest";
import { eventsFromIn } from "../../../../api/statistics/statistics-answer.js";

const range = { startDate: "2026-08-10", endDate: "2026-09-10" };
const before = { startDate: "2026-07-10", endDate: "2026-08-10" };
const filters = [{ column: "country", values: ["DE"] }];
const packages = { scope: { pixels: [] }, eventsFrom: "2026-08-01" };

test("numbers that come from events say from which day on there are any", () => {
  const asked = { range: { ...range, startDate: "2026-07-31" }, before: undefined };
  expect(eventsFromIn({ ...asked, filters }, packages)).toBe("2026-08-01");
  expect(eventsFromIn({ ...asked, filters: [] }, { ...packages, scope: { pixels: ["id"] } })).toBe(
    "2026-08-01",
  );
  expect(eventsFromIn({ range, before, filters }, packages)).toBe("2026-08-01");
});

test("nothing is said where every day has its numbers", () => {
  const old = { range: { ...range, startDate: "2026-01-01" }, before };
  expect(eventsFromIn({ ...old, filters: [] }, packages)).toBeUndefined();
  expect(eventsFromIn({ range, before: undefined, filters }, packages)).toBeUndefined();
  expect(eventsFromIn({ ...old, filters }, { ...packages, eventsFrom: undefined })).toBeUndefined();
});
