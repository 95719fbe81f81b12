import { createTask } from "node-cron";
import { describe, expect, test } from "vitest";
import { missedTime } from "../../../../deploy/schedule/start-schedule.js";

const NOW = "2026-03-10T12:34:56.789Z";

describe("the missed time", () => {
  test.each([
    ["0 * * * *", "2026-03-10T11:00:00Z", "2026-03-10T12:00:00.000Z"],
    ["0 * * * *", "2026-03-09T11:00:00Z", "2026-03-10T12:00:00.000Z"],
    ["0 * * * *", "2026-03-10T12:00:00Z", undefined],
    ["34 12 * * *", "2026-03-10T12:33:59Z", "2026-03-10T12:34:00.000Z"],
    ["35 12 * * *", "2026-03-10T12:00:00Z", undefined],
    ["35 12 * * *", "2026-03-09T12:00:00Z", "2026-03-09T12:35:00.000Z"],
    ["0 9 * * 1-5", "2026-03-06T09:00:00Z", "2026-03-10T09:00:00.000Z"],
    ["0 9 * * 0", "2026-03-02T09:00:00Z", "2026-03-08T09:00:00.000Z"],
    ["30 34 12 * * *", "2026-03-10T12:00:00Z", "2026-03-10T12:34:30.000Z"],
    ["57 34 12 * * *", "2026-03-10T12:00:00Z", undefined],
    ["0 0 10 2 *", "2026-01-01T00:00:00Z", "2026-02-10T00:00:00.000Z"],
    ["0 0 1 1 *", "2025-06-01T00:00:00Z", undefined],
  ])("of %s since %s is %s", (schedule, after, expected) => {
    const task = createTask(schedule, () => undefined, { timezone: "UTC" });
    const missed = missedTime(task, { after: new Date(after), now: new Date(NOW) });
    expect(missed?.toISOString()).toBe(expected);
  });
});
