import type { DownloadsChangedData } from "../../../../schemas/contracts/notification-event.js";
import { changeOf } from "../../../../schemas/contracts/statistics.js";
import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { numbered } from "../../../../schemas/records/numbered.js";
import { formatDate, formatFull } from "../../../web/parts/format.js";
import type { Draft } from "../message.js";
import {
  type PeriodKind,
  type Reading,
  asOf,
  readDays,
  signed,
  subjectOf,
  weekdayName,
} from "./period-kind.js";

type Kind = PeriodKind<"downloads-changed">;

export const downloadsChanged: Kind = {
  unit: "day",
  read,
  isWorthSending: isFar,
  figuresOf: ({ downloads }) => [downloads],
  compose,
};

const WEEKS = [4, 3, 2, 1, 0] as const;

async function read({ clickhouse, thresholdPercent, query }: Reading): ReturnType<Kind["read"]> {
  const day = Date.parse(query.range.startDate);
  const dates = WEEKS.map((weeks) => dateAt(day - weeks * 7 * DAY_MS));
  const days = await readDays(clickhouse, {
    ...query,
    range: { ...query.range, startDate: dates[0] ?? "" },
  });
  const series = dates.map((date) => ({
    date,
    downloads: days.reduce((sum, each) => sum + (each.date === date ? each.downloads : 0), 0),
  }));
  const counts = series.map(({ downloads }) => downloads);
  const downloads = counts.pop() ?? 0;
  const median = medianOf(counts);
  return {
    downloads,
    median,
    change: changeOf(downloads, median),
    threshold_percent: thresholdPercent,
    series,
  };
}

/** Of four weeks: the mean of the two in the middle. */
export function medianOf(counts: readonly number[]): number {
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}

/** Fewer downloads than this, now and usually, are no change worth a message. */
const DOWNLOADS_MIN = 50;

type Compared = Pick<DownloadsChangedData, "downloads" | "median" | "change" | "threshold_percent">;

export function isFar({ downloads, median, change, threshold_percent: threshold }: Compared): boolean {
  if (Math.max(downloads, median) < DOWNLOADS_MIN) return false;
  return change === null || Math.abs(change) * 100 >= threshold;
}

function compose(data: DownloadsChangedData, owner: string): Draft {
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
