import { expect } from "vitest";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import type { AggregateV1 } from "../../schemas/aggregate.js";
import { firstDifference } from "./first-difference.js";

/** Reads an organization's aggregates until they are as expected; otherwise the test fails with what still differs. */
export async function readUntil(
  api: ApiClient,
  organization: string,
  { range, expected }: { range: { startDate: string; endDate: string }; expected: readonly AggregateV1[] },
): Promise<void> {
  const difference = async () => firstDifference(await api.readAggregates(organization, range), expected);
  await expect.poll(difference, { timeout: 30_000, interval: 250 }).toBe("");
}
