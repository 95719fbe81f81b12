import { describe, expect, test } from "vitest";
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
  { measure: "downloads", part: "now", bucket: "", amount: 7, contents: "" },
  { measure: "downloads", part: "now", bucket: "2025-03-01", amount: 7, contents: "" },
  { measure: "addresses", part: "now", bucket: "", amount: addresses, contents: "" },
  { measure: "missing", part: "now", bucket: "", amount: missing, contents: "" },
];

/** Answers statements in turn, and keeps their texts and parameters. */
function answering(...answers: readonly object[][]) {
  const asked: string[] = [];
  const params: Record<string, unknown>[] = [];
  const query = async (request: { query: string; query_params: Record<string, unknown> }) => {
    params.push(request.query_params);
    return { json: async () => answers[asked.push(request.query) - 1] };
  };
  return { clickhouse: { query } as unknown as ClickHouse, asked, params };
}

test.each([
  ["nothing is missing", [[{ reads_sets: 1, buckets: [], stale: STALE }], counted(5, 0)]],
  [
    "a day lost its set in between",
    [
      [{ reads_sets: 1, buckets: [], stale: [] }],
      counted(4, 1),
      [{ reads_sets: 1, buckets: [], stale: STALE }],
      counted(5, 0),
    ],
  ],
  [
    "days lose their sets all the time",
    [
      ...Array.from({ length: 3 }, () => [[{ reads_sets: 1, buckets: [], stale: [] }], counted(4, 1)]).flat(),
      counted(5, 0),
    ],
  ],
  ["rows answer sooner", [[{ reads_sets: 0, buckets: [], stale: STALE }], counted(5, 0)]],
])("addresses are complete where %s", async (_, answers) => {
  const { clickhouse, asked } = answering(...answers);
  const { now } = await readFromTables.statistics(clickhouse, QUERY);
  expect(now.totals).toEqual({ downloads: 7, views: 0, addresses: 5, companies: 0 });
  expect(asked).toHaveLength(answers.length);
});

test("days that are asked for by their rows stand in the text as UUIDs and days", async () => {
  const { clickhouse, asked } = answering([{ reads_sets: 1, buckets: [], stale: STALE }], counted(5, 0));
  await readFromTables.statistics(clickhouse, QUERY);
  expect(asked[1]).toContain(`CAST([('${PACKAGE}','2025-03-02')] AS Array(Tuple(UUID, Date))) AS stale`);
  const wrong = answering([{ reads_sets: 1, buckets: [], stale: [[PACKAGE, "2025-03-02') OR (1"]] }]);
  await expect(readFromTables.statistics(wrong.clickhouse, QUERY)).rejects.toThrow("not a UUID and a day");
});

describe("the addresses of a bucket are counted once", () => {
  const DAY = "2025-03-01";
  const found = (contents: string) => [{ reads_sets: 1, stale: [], buckets: [[1, DAY, contents]] }];
  const ofDay = (bucket: string | null, { addresses, contents }: { addresses: number; contents: string }) => [
    ...counted(9, 0),
    { measure: "addresses", part: "now", bucket, amount: addresses, contents },
  ];
  const ask = async (answers: readonly object[][], query = QUERY) => {
    const { clickhouse, params } = answering(...answers);
    const { now } = await readFromTables.statistics(clickhouse, query);
    return {
      known: params[1]?.["known"],
      addresses: now.buckets.get(DAY)?.addresses,
      total: now.totals.addresses,
    };
  };
  const PEOPLE = { ...QUERY, automated: "exclude" } as const;
  const VIEWED = { ...QUERY, pixels: [PACKAGE] };

  test("while its contents stay", async () => {
    const first = { addresses: 5, contents: "18446744073709551615" };
    const counts = { known: [], addresses: 5, total: 9 };
    expect(await ask([found(first.contents), ofDay(DAY, first)])).toEqual(counts);
    const collapsed = ofDay(null, { ...first, addresses: 8 });
    expect(await ask([found(first.contents), collapsed])).toEqual({ ...counts, known: [DAY] });
    const changed = { addresses: 6, contents: "18446744073709551614" };
    // It changed, and was there again, once it was known.
    const other = { measure: "addresses", part: "now", bucket: null, amount: 6, contents: changed.contents };
    const again = [found(first.contents), [...counted(8, 0), other], found(first.contents), collapsed];
    expect(await ask(again)).toEqual({ ...counts, known: [DAY] });
    expect(await ask([found(changed.contents), ofDay(DAY, changed)])).toEqual({ ...counts, addresses: 6 });
    // Without robots, and with those who looked at a pixel, it has others.
    expect(await ask([found(first.contents), ofDay(DAY, changed)], PEOPLE)).toEqual({
      ...counts,
      addresses: 6,
    });
    expect(await ask([found(first.contents), ofDay(DAY, changed)], VIEWED)).toEqual({
      ...counts,
      addresses: 6,
    });
  });

  test("and again where some come from rows", async () => {
    const unset = { addresses: 5, contents: "" };
    for (const addresses of [5, 6])
      expect(await ask([found("1701"), ofDay(DAY, { ...unset, addresses })])).toEqual({
        known: [],
        addresses,
        total: 9,
      });
  });
});
