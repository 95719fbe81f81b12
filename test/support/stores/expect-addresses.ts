import { expect } from "vitest";
import { firstGroup, makeSets, readStaleDays } from "../../../aggregate/address-sets/make-sets.js";
import { composeTableCounts } from "../../../aggregate/statistics/compose-from-tables.js";
import { rowsOf } from "../../../aggregate/statistics/run-statement.js";
import type { TestClickHouse } from "./open-clickhouse.js";

const RANGE = { startDate: "2025-01-01", endDate: "2026-01-01" };

interface Download {
  address: string;
  time: number;
  isAutomated: boolean;
}

/** The statistics of a package count these addresses by day and in all, from the sets that there are. */
export async function expectAddresses(
  { client }: TestClickHouse,
  packageId: string,
  downloads: readonly Download[],
): Promise<void> {
  for (const automated of ["include", "exclude"] as const) {
    const counted = downloads.filter(({ isAutomated }) => automated === "include" || !isAutomated);
    const days = [...new Set(counted.map(dayOf))];
    const wanted = days.map((day) => [day, distinct(counted.filter((each) => dayOf(each) === day))]);
    const scoped = { packages: true, pixels: false, automated };
    const rows = await rowsOf<{ measure: string; bucket: string; amount: number }>(
      client,
      { packages: [packageId], pixels: [], range: RANGE, signal: new AbortController().signal },
      { query: composeTableCounts(scoped, { interval: "day", measures: "all-from-sets" }) },
    );
    const answered = rows.filter(({ measure }) => measure === "addresses");
    expect(answered.map(({ bucket, amount }) => [bucket, amount]).sort(), automated).toEqual(
      [["", distinct(counted)], ...wanted].sort(),
    );
  }
}

function dayOf({ time }: Download): string {
  return new Date(time).toISOString().slice(0, 10);
}

function distinct(downloads: readonly Download[]): number {
  return new Set(downloads.map(({ address }) => address).filter((address) => address !== "")).size;
}

/** Makes the sets of all days. Several servers have none. */
export async function makeAllSets({ shards }: TestClickHouse): Promise<void> {
  const [shard, ...others] = shards.shards;
  if (shard === undefined || shard.name !== undefined || others.length > 0) return;
  const notSynced = { ...shards, sync: async () => undefined };
  const stale = await readStaleDays(shard.tables);
  for (let left = stale; left.length > 0; left = left.slice(firstGroup(left).length))
    expect(await makeSets(notSynced, shard.tables, firstGroup(left))).toBe(true);
  expect(await readStaleDays(shard.tables)).toEqual([]);
}

/** Every address that the sets may have has one number, and no other has it. */
export async function expectOwnNumbers(clickhouse: TestClickHouse): Promise<void> {
  const [counted] = await clickhouse.rows<Record<"addresses" | "numbers" | "rows", string>>(
    "SELECT uniqExact(address) AS addresses, uniqExact(number) AS numbers, count() AS rows FROM address_numbers",
  );
  expect([counted?.addresses, counted?.numbers]).toEqual([counted?.rows, counted?.rows]);
}
