import type { Pool } from "pg";
import { describe, expect, test, vi } from "vitest";
import { putChunks } from "../../../../../api/features/imports/import-progress.js";
import type { ChunkOutcome } from "../../../../../schemas/records/chunk-outcome.js";

const outcomeOf = (sequence: number, message: string): ChunkOutcome => ({
  importId: "01990000-0000-7000-8000-0000000000aa",
  sequence,
  receiptStamp: 1,
  eventsTotal: 1,
  eventsImported: 0,
  eventsFailed: 1,
  eventsWithWarnings: 0,
  linesSkipped: 0,
  errors: [{ class: "error", type: "invalid-value", human_friendly_message: message, line: 1 }],
  warnings: [],
});

/** Refuses what the real one does: a NUL within JSON. */
function refusing(code: string) {
  const stored: { sequence: number; failed: number; errors: unknown }[] = [];
  const query = async (_: string, [json]: [string]) => {
    if (json.includes("\\u0000"))
      throw Object.assign(new Error("unsupported Unicode escape sequence"), { code, severity: "ERROR" });
    const rows = JSON.parse(json) as typeof stored;
    stored.push(...rows);
    return { rows: [{ inserted: rows.length }] };
  };
  return { pg: { query } as unknown as Pool, stored };
}

const outcomes = [outcomeOf(0, "good"), outcomeOf(1, "with \0"), outcomeOf(2, "also good")];

describe("putChunks", () => {
  test("counts an outcome whose samples PostgreSQL refuses, without them, and leaves the others whole", async () => {
    const { pg, stored } = refusing("22P05");
    const onRefused = vi.fn();
    expect(await putChunks(pg, outcomes, { onRefused })).toEqual([]);
    expect(stored.map(({ sequence, failed, errors }) => [sequence, failed, errors !== null])).toEqual([
      [0, 1, true],
      [1, 1, false],
      [2, 1, true],
    ]);
    expect(onRefused).toHaveBeenCalledExactlyOnceWith(outcomes[1], expect.any(Error));
  });

  test("leaves every other failure to the caller, who tries again", async () => {
    const { pg, stored } = refusing("40P01");
    await expect(putChunks(pg, outcomes)).rejects.toMatchObject({ code: "40P01" });
    expect(stored).toEqual([]);
  });
});
