import { describe, expect, test } from "vitest";
import { exampleOf } from "../../../../../api/features/notifications/failures.js";
import type { ImportFailedData } from "../../../../../schemas/contracts/notification-event.js";

describe("an example of a failed import", () => {
  test.each([null, 0, 0.5, 1, 4.99, 5, 6, 42.5, 99, 99.9, 100, 150, 10_000])(
    "is one that a threshold of %s tells",
    (thresholdPercent) => {
      const data = exampleOf("import-failed", { thresholdPercent }) as ImportFailedData;
      const {
        events_total: total,
        events_failed_to_import: failed,
        reason,
        threshold_percent: threshold,
      } = data;
      expect(threshold).toBe(thresholdPercent ?? 1);
      expect(failed).toBeLessThanOrEqual(total);
      const isTold = reason === "upload-interrupted" || failed > (total * threshold) / 100;
      expect(isTold).toBe(true);
    },
  );

  test("has refused lines wherever these can be too many", () => {
    const reasonAt = (thresholdPercent: number) =>
      (exampleOf("import-failed", { thresholdPercent }) as ImportFailedData).reason;
    expect([99.9, 100].map(reasonAt)).toEqual(["refused-lines", "upload-interrupted"]);
  });
});
