import { expect, test } from "vitest";
import { readFromTables } from "../../../../aggregate/statistics/read-from-tables.js";
import type { ClickHouse } from "../../../../schemas/shards.js";

const PACKAGE = "01a216ec-137a-75f5-887a-975f662b07bd";
const STALE = [[PACKAGE, "2025-03-02"]];
const QUERY: Parameters<typeof readFromTables.statistics>[1] = {
  packages: [PACKAGE],
  libraryTypes: new Set(["npm"]),
  pixels: [],
  filters: [],
  lists: [],
  limit: 10,
  range: { startDate: "2025-03-01", endDate: "2025-03-03" },
  interval: "day",
  automated: "include",
  unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
  signal: new AbortController().signal,
};

const counted = (addresses: number, missing: number) => [
  { measure: "downloads", part: "now", bucket: "", amount: 7 },
  { measure: "downloads", part: "now", bucket: "2025-03-01", amount: 7 },
  { measure: "addresses", part: "now", bucket: "", amount: addresses },
  { measure: "missing", part: "now", bucket: "", amount: missing },
];

/** Answers statements in turn, and keeps their texts. */
function answering(...answers: readonly object[][]): { clickhouse: ClickHouse; asked: string[] } {
  const asked: string[] = [];
  const query = async (request: { query: string }) => ({
    json: async () => answers[asked.push(request.query) - 1],
  });
  return { clickhouse: { query } as unknown as ClickHouse, asked };
}

test.each([
  ["nothing is missing", [[{ reads_sets: 1, stale: STALE }], counted(5, 0)]],
  [
    "a day lost its set in between",
    [[{ reads_sets: 1, stale: [] }], counted(4, 1), [{ reads_sets: 1, stale: STALE }], counted(5, 0)],
  ],
  [
    "days lose their sets all the time",
    [
      ...Array.from({ length: 3 }, () => [[{ reads_sets: 1, stale: [] }], counted(4, 1)]).flat(),
      counted(5, 0),
    ],
  ],
  ["rows answer sooner", [[{ reads_sets: 0, stale: STALE }], counted(5, 0)]],
])("addresses are complete where %s", async (_, answers) => {
  const { clickhouse, asked } = answering(...answers);
  const { now } = await readFromTables.statistics(clickhouse, QUERY);
  expect(now.totals).toEqual({ downloads: 7, views: 0, addresses: 5, companies: 0 });
  expect(asked).toHaveLength(answers.length);
});

test("days that are asked for by their rows stand in the text as UUIDs and days", async () => {
  const { clickhouse, asked } = answering([{ reads_sets: 1, stale: STALE }], counted(5, 0));
  await readFromTables.statistics(clickhouse, QUERY);
  expect(asked[1]).toContain(`CAST([('${PACKAGE}','2025-03-02')] AS Array(Tuple(UUID, Date))) AS stale`);
  const wrong = answering([{ reads_sets: 1, stale: [[PACKAGE, "2025-03-02') OR (1"]] }]);
  await expect(readFromTables.statistics(wrong.clickhouse, QUERY)).rejects.toThrow("not a UUID and a day");
});
