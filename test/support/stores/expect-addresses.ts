import { expect } from "vitest";
import { composeContents, composeTableCounts } from "../../../aggregate/statistics/compose-from-tables.js";
import type { PackageDate } from "../../../aggregate/queries/sql-literals.js";
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
    const wanted = days.map((day) => [day, distinct(counted.filter((each) => dayOf(each) === day))] as const);
    const scoped = { pixels: false, automated };
    const query = { packages: [packageId], pixels: [], range: RANGE, signal: new AbortController().signal };
    const [found] = await rowsOf<{ stale: PackageDate[] }>(client, query, {
      query: composeContents("day"),
    });
    const rows = await rowsOf<{ measure: string; bucket: string; amount: number }>(
      client,
      { ...query, stale: found?.stale ?? [] },
      {
        query: composeTableCounts(scoped, {
          interval: "day",
          measures: "from-sets-and-rows",
          compares: "nothing",
        }),
      },
    );
    expect(rows.filter(({ measure, amount }) => measure === "missing" && amount > 0)).toEqual([]);
    const answered = rows.filter(({ measure, amount }) => measure === "addresses" && amount > 0);
    expect(answered.map(({ bucket, amount }) => [bucket, amount]).sort(), automated).toEqual(
      [["", distinct(counted)] as const, ...wanted].filter(([, amount]) => amount > 0).sort(),
    );
  }
}

function dayOf({ time }: Download): string {
  return new Date(time).toISOString().slice(0, 10);
}

function distinct(downloads: readonly Download[]): number {
  return new Set(downloads.map(({ address }) => address).filter((address) => address !== "")).size;
}

/** Every address that the sets may have has one number, and no other has it. */
export async function expectOwnNumbers(clickhouse: TestClickHouse): Promise<void> {
  const [counted] = await clickhouse.rows<Record<"addresses" | "numbers" | "rows", string>>(
    "SELECT uniqExact(address) AS addresses, uniqExact(number) AS numbers, count() AS rows FROM address_numbers",
  );
  expect([counted?.addresses, counted?.numbers]).toEqual([counted?.rows, counted?.rows]);
}
