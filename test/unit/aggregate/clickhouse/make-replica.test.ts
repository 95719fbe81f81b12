import { expect, test } from "vitest";
import { replicaStatement } from "../../../../aggregate/clickhouse/cluster/make-replica.js";
import {
  fillClauses,
  REPLICATED_CLAUSES,
  TABLE_CLAUSES,
} from "../../../../aggregate/clickhouse/table-clauses.js";

test("a table is made again replicated, and under its own name", () => {
  const created =
    "CREATE TABLE maintainer_new.totals (`package` UUID, `total` Int64) ENGINE = SummingMergeTree(total) ORDER BY package";
  expect(replicaStatement(created, "maintainer_new")).toBe(
    "CREATE TABLE IF NOT EXISTS totals (`package` UUID, `total` Int64) ENGINE = ReplicatedSummingMergeTree(total) ORDER BY package",
  );
});

test("a table of another replica keeps its engine and its partitions", () => {
  const created =
    "CREATE TABLE maintainer.events (`date` Date) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/maintainer/events', '{replica}') PARTITION BY toYYYYMM(date)";
  expect(replicaStatement(created, "maintainer")).toBe(
    "CREATE TABLE IF NOT EXISTS events (`date` Date) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/maintainer/events', '{replica}') PARTITION BY toYYYYMM(date)",
  );
});

test("a view is made again over the tables of the same names", () => {
  const created =
    "CREATE MATERIALIZED VIEW maintainer_new.totals_view TO maintainer_new.totals (`total` Int64) AS SELECT sum(sign) AS total FROM maintainer_new.events";
  expect(replicaStatement(created, "maintainer_new")).toBe(
    "CREATE MATERIALIZED VIEW IF NOT EXISTS totals_view TO totals (`total` Int64) AS SELECT sum(sign) AS total FROM events",
  );
});

test("engines are spelled once, and replicated by their name alone", () => {
  const text =
    "{summing(live, rows)} {summing(total)} {replacing} {plain} {new_table(events)} {deduplication(10)}";
  const one = fillClauses(text, TABLE_CLAUSES);
  expect(one).toContain(
    "SummingMergeTree((live, rows)) SummingMergeTree(total) ReplacingMergeTree MergeTree ",
  );
  expect(fillClauses(text, REPLICATED_CLAUSES)).toBe(
    one.replaceAll(/(\w*)MergeTree/g, "Replicated$1MergeTree"),
  );
});

test("replicas remember inserts for two weeks, longer than any of them is repeated", () => {
  expect(TABLE_CLAUSES["deduplication"]?.("100")).toBe(
    "non_replicated_deduplication_window = 100, remove_empty_parts = 0, " +
      "replicated_deduplication_window = 100, replicated_deduplication_window_seconds = 1209600",
  );
});
