import { expect, test } from "vitest";
import { parseInserts } from "../../../bench/import/count-inserts.js";

const METRICS = `# TYPE clickhouse_insert_duration_seconds histogram
clickhouse_insert_duration_seconds_count{table="import_log"} 4
clickhouse_insert_duration_seconds_sum{table="events"} 7.25
clickhouse_insert_duration_seconds_count{table="events"} 31
`;

test("reads the inserts into events, none before the first", () => {
  expect(parseInserts(METRICS)).toBe(31);
  expect(parseInserts("")).toBe(0);
});
