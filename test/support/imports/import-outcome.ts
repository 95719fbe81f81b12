import type { LogEntry } from "../../../schemas/records/import-log.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { ExpectedImport } from "./recount.js";
import { expect, vi } from "vitest";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import { firstDifference } from "./recount-aggregates.js";

/** The outcome of an import, in a form in which the service's record and a recount can be compared. */
interface ImportOutcome {
  status: EventImport["status"];
  total: number;
  successful: number;
  failed: number;
  /** `<line> <type>`, at most the first ten of each class. */
  errors: string[];
  warnings: string[];
}

const SAMPLE_MAX = 10;

export function outcomeOf(record: EventImport): ImportOutcome {
  return {
    status: record.status,
    total: record.events_total,
    successful: record.events_successfully_imported,
    failed: record.events_failed_to_import,
    errors: record.error_log_sample.map(described),
    warnings: record.warning_log_sample.map(described),
  };
}

/** The outcome of an import that is done. */
export function expectedOutcome({ total, successful, failed, entries }: ExpectedImport): ImportOutcome {
  const sampled = (wanted: string) =>
    entries
      .filter((entry) => entry.class === wanted)
      .slice(0, SAMPLE_MAX)
      .map(described);
  return {
    status: "done",
    total,
    successful,
    failed,
    errors: sampled("error"),
    warnings: sampled("warning"),
  };
}

function described({ line, type }: Pick<LogEntry, "line" | "type">): string {
  return `${line} ${type}`;
}

/** Retracts an import, and waits until its events are in no export: its answer does so for some seconds alone. */
export async function retract(api: ApiClient, path: string): Promise<void> {
  const { status } = await api.request(path, { method: "DELETE" });
  expect([202, 204]).toContain(status);
  const isThrough = async () => (await api.get<EventImport>(path)).status !== "retracting";
  await vi.waitUntil(isThrough, { timeout: 300_000, interval: 50 });
}

/** Reads the aggregates of a package until they are as expected; otherwise the test fails with what still differs. */
export async function readUntil(
  api: ApiClient,
  organization: string,
  { packageId, range, expected }: Expectation,
): Promise<void> {
  const difference = async () => {
    const lines = await api.readAggregates(organization, range);
    return firstDifference(
      lines.filter((line) => line.package === packageId),
      expected,
    );
  };
  await expect.poll(difference, { interval: 250 }).toBe("");
}

interface Expectation {
  packageId: string;
  range: { startDate: string; endDate: string };
  expected: readonly AggregateV1[];
}
