import { expect } from "vitest";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import { firstDifference } from "../imports/first-difference.js";

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
