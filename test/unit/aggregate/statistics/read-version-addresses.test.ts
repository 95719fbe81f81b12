import { expect, test } from "vitest";
import { readVersionAddresses } from "../../../../aggregate/statistics/read-version-addresses.js";
import type { ClickHouse } from "../../../../schemas/shards.js";

const PACKAGE = "01a216ec-137a-75f5-887a-975f662b07bd";
const QUERY: Parameters<typeof readVersionAddresses>[1] = {
  packages: [PACKAGE],
  libraryTypes: new Set(["npm"]),
  pixels: [],
  filters: [],
  range: { startDate: "2025-03-01", endDate: "2025-03-03" },
  versions: "exact",
  automated: "include",
  unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
  live: { rows: () => "SELECT 1", params: {} },
  named: ["1.0"],
  signal: new AbortController().signal,
};
const FROM_SETS = { stale: [], reads_sets: 1 };
const FROM_ROWS = { stale: [], reads_sets: 0 };
const ofSets = (missing: number) => ({ name: "1.0", addresses: 5, missing });
const OF_EVENTS = { name: "1.0", addresses: 6 };

/** Answers statements in turn with a row each. */
function answering(...rows: readonly object[]): ClickHouse {
  let asked = 0;
  return { query: async () => ({ json: async () => [rows[asked++]] }) } as unknown as ClickHouse;
}

test.each([
  ["sets where no day is missing", 5, QUERY, [FROM_SETS, ofSets(0)]],
  ["events where a day lost its sets in between", 6, QUERY, [FROM_SETS, ofSets(1), OF_EVENTS]],
  ["events where sets would take longer", 6, QUERY, [FROM_ROWS, OF_EVENTS]],
  [
    "events that filters keep",
    6,
    { ...QUERY, filters: [{ column: "country", values: ["DE"] }] },
    [OF_EVENTS],
  ],
  [
    "events while an import is unsettled",
    6,
    { ...QUERY, unsettled: { ...QUERY.unsettled, imports: [PACKAGE] } },
    [OF_EVENTS],
  ],
] as const)("addresses of versions come from %s", async (_, addresses, query, rows) => {
  expect([...(await readVersionAddresses(answering(...rows), query))]).toEqual([["1.0", addresses]]);
});
