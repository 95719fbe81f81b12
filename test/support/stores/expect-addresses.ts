import { expect } from "vitest";
import { composeContents, composeTableCounts } from "../../../aggregate/statistics/compose-from-tables.js";
import type { PackageDate } from "../../../aggregate/queries/sql-literals.js";
import { readStatistics } from "../../../aggregate/statistics/read-statistics.js";
import { rowsOf } from "../../../aggregate/statistics/run-statement.js";
import { readAdoption } from "../../../aggregate/statistics/read-adoption.js";
import { ADOPTION_VERSIONS_MAX, OTHER_VERSIONS } from "../../../schemas/contracts/adoption.js";
import type { Automation } from "../../../schemas/contracts/statistics.js";
import type { TestClickHouse } from "./open-clickhouse.js";

const RANGE = { startDate: "2025-01-01", endDate: "2026-01-01" };

/** What statistics without filters are asked for. */
export const EVERYTHING = {
  pixels: [],
  libraryTypes: new Set(["docker"] as const),
  range: RANGE,
  filters: [],
  interval: "day",
  unsettled: { imports: [], fromVersion: "0", retracted: [], changed: false },
  signal: new AbortController().signal,
} as const;

interface Download {
  address: string;
  time: number;
  version: string;
  isAutomated: boolean;
}

/**
 * The statistics of a package count these addresses by day and in all, and those of people by version, from the sets that
 * there are, and then as they know them.
 */
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
    const query = { ...EVERYTHING, packages: [packageId] };
    const [found] = await rowsOf<{ stale: PackageDate[] }>(client, query, {
      query: composeContents("day"),
    });
    const rows = await rowsOf<{ measure: string; bucket: string; amount: number }>(
      client,
      { ...query, stale: found?.stale ?? [] },
      {
        params: { known: [] },
        query: composeTableCounts(scoped, {
          interval: "day",
          measures: "from-sets-and-rows",
          compares: "nothing",
        }),
      },
    );
    expect(rows.filter(({ measure, amount }) => measure === "missing" && amount > 0)).toEqual([]);
    const answered = rows.filter(({ measure, amount }) => measure === "addresses" && amount > 0);
    const expected = [["", distinct(counted)] as const, ...wanted].filter(([, amount]) => amount > 0).sort();
    expect(answered.map(({ bucket, amount }) => [bucket, amount]).sort(), automated).toEqual(expected);
    for (const turn of ["first", "known"])
      expect(await addressesOf(client, [packageId], { automated }), `${automated}, ${turn}`).toEqual(
        expected,
      );
  }
  const people = downloads.filter(({ isAutomated }) => !isAutomated);
  await expectByVersion(client, packageId, people);
}

/** Of the downloads of people. */
async function expectByVersion(
  client: TestClickHouse["client"],
  packageId: string,
  downloads: readonly Download[],
): Promise<void> {
  const { versions, addresses } = await readAdoption(client, {
    ...EVERYTHING,
    packages: [packageId],
    automated: "exclude",
    versions: "exact",
  });
  const nameOf = ({ version }: Download) => (versions.includes(version) ? version : OTHER_VERSIONS);
  const wanted = [...new Set(downloads.map(nameOf))].map(
    (name) => [name, distinct(downloads.filter((each) => nameOf(each) === name))] as const,
  );
  const named = new Set(
    downloads.map(({ version }) => version).filter((version) => version !== "" && version !== OTHER_VERSIONS),
  );
  expect(versions).toHaveLength(Math.min(ADOPTION_VERSIONS_MAX, named.size));
  expect([...addresses].sort()).toEqual(wanted.filter(([, amount]) => amount > 0).sort());
}

/** How many addresses the statistics of packages, and pixels, have in all, and on each day. */
export async function addressesOf(
  client: TestClickHouse["client"],
  packages: readonly string[],
  { pixels = [], automated = "include" }: { pixels?: readonly string[]; automated?: Automation } = {},
): Promise<(readonly [bucket: string, addresses: number])[]> {
  const { now } = await readStatistics(client, {
    ...EVERYTHING,
    packages,
    pixels,
    lists: [],
    limit: 1,
    automated,
  });
  const buckets = [...now.buckets].map(([bucket, { addresses }]) => [bucket, addresses] as const);
  return [["", now.totals.addresses] as const, ...buckets].filter(([, addresses]) => addresses > 0).sort();
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
