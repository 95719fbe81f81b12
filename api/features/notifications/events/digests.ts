import { readStatistics } from "../../../../aggregate/statistics/read-statistics.js";
import type { PackageDay } from "../../../../aggregate/statistics/read-statistics.js";
import type { RangeCounts } from "../../../../aggregate/statistics/statistics-query.js";
import { type StatisticsList, listNamed } from "../../../../schemas/contracts/breakdowns.js";
import type { DigestData, DigestTotals } from "../../../../schemas/contracts/notification-event.js";
import { changeOf } from "../../../../schemas/contracts/statistics.js";
import { type DateRange, addDays } from "../../../../schemas/date-range.js";
import { numbered } from "../../../../schemas/records/numbered.js";
import { countryName, formatDate, formatDays, formatFull, formatMonth } from "../../../web/parts/format.js";
import { rowOf, seriesOf } from "../../statistics/statistics-answer.js";
import { type Chart, type Draft, LABEL_MAX, type Tile, oneLine } from "../message.js";
import { periodBefore } from "../periods.js";
import type { ScopePackage } from "../scope-packages.js";
import { companyRows, readNewCompanies } from "./new-companies.js";
import {
  type PeriodKind,
  type Reading,
  asOf,
  readDays,
  signed,
  subjectOf,
  weekdayOf,
} from "./period-kind.js";

type DigestKind = PeriodKind<"weekly-digest" | "monthly-digest">;

const DIGEST = {
  isWorthSending: ({ totals, before }) =>
    totals.downloads + totals.views + before.downloads + before.views > 0,
  figuresOf: ({ totals, new_companies: companies }) => [
    totals.downloads,
    totals.views,
    totals.unique_addresses,
    totals.companies,
    companies,
  ],
} as const satisfies Partial<DigestKind>;

export const weeklyDigest: DigestKind = {
  ...DIGEST,
  unit: "week",
  read: (reading) => readDigest(reading, "week"),
  compose: (data, owner) =>
    digest(data, owner, { unit: "week", when: formatDays(data.start_date, addDays(data.end_date, -1)) }),
};

export const monthlyDigest: DigestKind = {
  ...DIGEST,
  unit: "month",
  read: (reading) => readDigest(reading, "month"),
  compose: (data, owner) => digest(data, owner, { unit: "month", when: formatMonth(data.start_date) }),
};

const ROWS = 5;
const LISTS = ["country", "version", "company"].map(listNamed);

async function readDigest(reading: Reading, unit: "week" | "month"): ReturnType<DigestKind["read"]> {
  const { clickhouse, packageId, packages, query } = reading;
  const before = periodBefore(unit, query.range);
  const interval = unit === "month" ? "week" : "day";
  const compared = { ...query, before };
  const [read, days, companies] = await Promise.all([
    readStatistics(clickhouse, { ...compared, interval, lists: LISTS, limit: ROWS }),
    readDays(clickhouse, { ...query, range: { ...query.range, startDate: before.startDate } }),
    readNewCompanies(reading, ROWS),
  ]);
  const first = <Field extends string>(list: StatisticsList, field: Field) =>
    (read.lists.get(list.name) ?? []).map((row) => {
      const found = rowOf(row, { list, measure: "downloads", total: 0 });
      return { [field]: String(found[field] ?? ""), downloads: row.count } as Record<Field, string> & {
        downloads: number;
      };
    });
  const [countries, versions] = LISTS as [StatisticsList, StatisticsList];
  return {
    totals: totalsOf(read.now),
    before: totalsOf(read.before),
    series: seriesOf(read.now, { range: query.range, interval }).map(({ date, downloads, views }) => ({
      date,
      downloads,
      views,
    })),
    packages: packageId === null ? packageSums(packages, days, query.range) : [],
    countries: packages.length === 0 ? [] : first(countries, "country"),
    // Those of several packages have nothing to do with each other.
    versions: packages.length === 1 ? first(versions, "version") : [],
    ...companies,
  };
}

function totalsOf(counts: RangeCounts | undefined): DigestTotals {
  const { downloads = 0, views = 0, addresses = 0, companies = 0 } = counts?.totals ?? {};
  return { downloads, views, unique_addresses: addresses, companies };
}

function packageSums(
  packages: readonly ScopePackage[],
  days: readonly PackageDay[],
  { startDate }: DateRange,
): DigestData["packages"] {
  const sum = (of: readonly PackageDay[]) => of.reduce((total, { downloads }) => total + downloads, 0);
  return packages
    .map(({ id, name }) => {
      const own = days.filter((day) => day.package === id);
      const now = own.filter(({ date }) => date >= startDate);
      return { name, downloads: sum(now), before: sum(own) - sum(now) };
    })
    .filter(({ downloads }) => downloads > 0)
    .sort((one, other) => other.downloads - one.downloads)
    .slice(0, ROWS);
}

function digest(
  data: DigestData,
  owner: string,
  { unit, when }: { unit: "week" | "month"; when: string },
): Draft {
  const { totals, before, new_companies: fresh } = data;
  const name = subjectOf(data, owner);
  const count = totals.downloads > 0 || totals.views === 0 ? "downloads" : "views";
  const change = changeOf(totals[count], before[count]);
  const compared =
    change === null
      ? ""
      : `, ${change === 0 ? "as many as" : `${signed(change)} compared with`} the ${unit} before`;
  return {
    subject: `${name}: ${formatFull(totals[count])} ${count}, ${when}`,
    lines: [
      `${name} had ${formatFull(totals[count])} ${count} in the ${unit} ${when}${compared}.`,
      ...(fresh > 0 ? [`${numbered(fresh, "company", "companies")} seen for the first time.`] : []),
    ],
    tiles: tilesOf(totals, before),
    charts: digestCharts(data, { unit, count }),
    small: [asOf(data)],
    label: "Open dashboard",
    end: "",
    query: { startDate: data.start_date, endDate: data.end_date },
  };
}

function tilesOf(totals: DigestData["totals"], before: DigestData["before"]): Tile[] {
  const all = [
    ["downloads", "Downloads"],
    ["unique_addresses", "Unique IPs"],
    ["companies", "Companies"],
    ["views", "Page views"],
  ] as const;
  return all
    .filter(([field]) => totals[field] + before[field] > 0)
    .map(([field, label]) => {
      const change = changeOf(totals[field], before[field]);
      return {
        label,
        value: formatFull(totals[field]),
        ...(change !== null && { change: signed(change) }),
      };
    });
}

function digestCharts(
  data: DigestData,
  { unit, count }: { unit: "week" | "month"; count: "downloads" | "views" },
): Chart[] {
  const title = `${count === "views" ? "Page views" : "Downloads"} by ${unit === "week" ? "day" : "week"}`;
  const charts: Chart[] = [
    {
      title,
      rows: data.series.map((row) => ({
        label: unit === "week" ? weekdayOf(row.date) : `From ${formatDate(row.date)}`,
        value: row[count],
      })),
    },
    {
      title: "Packages",
      rows: data.packages.map(({ name, downloads, before }) => {
        const change = changeOf(downloads, before);
        return {
          label: oneLine(name, LABEL_MAX),
          value: downloads,
          note: change === null ? "new" : signed(change),
        };
      }),
    },
    { title: "New companies", rows: companyRows(data.companies) },
    {
      title: "Countries",
      rows: data.countries.map(({ country, downloads }) => ({
        label: oneLine(countryName(country), LABEL_MAX),
        value: downloads,
      })),
    },
    {
      title: "Versions",
      rows: data.versions.map(({ version, downloads }) => ({
        label: oneLine(version, LABEL_MAX),
        value: downloads,
      })),
    },
  ];
  return charts.filter(({ rows }) => rows.length > 0);
}
