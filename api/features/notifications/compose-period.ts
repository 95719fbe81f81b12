import { numbered } from "../../../schemas/records/numbered.js";
import type {
  DigestData,
  DownloadsChangedData,
  NewCompaniesData,
  NewCompany,
} from "../../../schemas/contracts/notification-event.js";
import { addDays } from "../../../schemas/date-range.js";
import {
  countryName,
  formatChange,
  formatDate,
  formatDays,
  formatFull,
  formatMonth,
  formatTime,
} from "../../web/parts/format.js";
import { changeOf } from "../../../schemas/contracts/statistics.js";
import { type Chart, type Draft, type Tile, oneLine, quoted } from "./message.js";

export function weeklyDigest(data: DigestData, owner: string): Draft {
  return digest(data, owner, { unit: "week", when: daysOf(data) });
}

export function monthlyDigest(data: DigestData, owner: string): Draft {
  return digest(data, owner, { unit: "month", when: formatMonth(data.start_date) });
}

type Ranged = Pick<DigestData, "start_date" | "end_date" | "complete_through" | "package">;

function daysOf({ start_date: start, end_date: end }: Ranged): string {
  return formatDays(start, addDays(end, -1));
}

const subjectOf = ({ package: name }: Ranged, owner: string) => quoted(name ?? owner);

const rangeOf = ({ start_date: startDate, end_date: endDate }: Ranged) => ({ startDate, endDate });

const asOf = ({ complete_through: time }: Ranged) => `Data as of ${formatTime(time)}. Days are in UTC.`;

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
    query: rangeOf(data),
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

export function newCompanies(data: NewCompaniesData, owner: string): Draft {
  const { new_companies: fresh, companies } = data;
  const name = subjectOf(data, owner);
  const many = numbered(fresh, "new company", "new companies");
  const [first] = companies;
  const who = fresh === 1 && first !== undefined ? quoted(first.name) : many;
  const rest = fresh - Math.min(companies.length, ROWS_MAX);
  return {
    subject: `${name}: ${who}, ${formatDate(data.start_date)}`,
    lines: [`${many} downloaded ${name} for the first time on ${formatDate(data.start_date)}.`],
    charts: [{ title: "Downloads on that day", rows: companyRows(companies.slice(0, ROWS_MAX)) }],
    small: [...(rest > 0 ? [`And ${numbered(rest, "more", "more")}.`] : []), asOf(data)],
    label: "Open companies",
    end: "/companies",
  };
}

const ROWS_MAX = 20;
/** Of a name in a chart: wider ones would push its bars out of sight. */
const LABEL_MAX = 40;

function companyRows(companies: readonly NewCompany[]): Chart["rows"] {
  return companies.map(({ name, domain, downloads }) => ({
    label: oneLine(name, LABEL_MAX),
    value: downloads,
    ...(domain !== undefined && domain !== name && { note: oneLine(domain, LABEL_MAX) }),
  }));
}

export function downloadsChanged(data: DownloadsChangedData, owner: string): Draft {
  const { downloads, median, change, threshold_percent: threshold, series } = data;
  const name = subjectOf(data, owner);
  const day = formatDate(data.start_date);
  const weekday = weekdayName(data.start_date);
  const far = change === null ? "after 0" : signed(change);
  return {
    subject: `${name}: ${numbered(downloads, "download")} on ${day}, ${far}`,
    lines: [
      `${name} had ${numbered(downloads, "download")} on ${weekday}, ${day}. The median of the previous four ` +
        `${weekday}s is ${formatFull(median)}${change === null ? "" : `: a change of ${signed(change)}`}.`,
    ],
    charts: [
      {
        title: `Downloads on ${weekday}s`,
        rows: series.map(({ date, downloads: value }) => ({ label: formatDate(date), value })),
      },
    ],
    small: [`You get this message when downloads change by ${threshold} % or more.`, asOf(data)],
    label: "Open dashboard",
    end: "",
    query: { startDate: series[0]?.date ?? data.start_date, endDate: data.end_date },
  };
}

function signed(change: number): string {
  const text = formatChange(Math.abs(change));
  if (change === 0 || text.startsWith("×")) return text;
  return `${change > 0 ? "+" : "−"}${text}`;
}

const WEEKDAY = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });

const weekdayName = (date: string) => WEEKDAY.format(new Date(date));
const weekdayOf = (date: string) => `${weekdayName(date).slice(0, 3)}, ${formatDate(date)}`;
