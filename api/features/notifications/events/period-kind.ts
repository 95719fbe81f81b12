import { type PackageDay, readPackageDays } from "../../../../aggregate/statistics/read-statistics.js";
import type { StatisticsQuery } from "../../../../aggregate/statistics/statistics-query.js";
import type {
  NotificationData,
  PeriodData,
  PeriodEvent,
} from "../../../../schemas/contracts/notification-event.js";
import type { ClickHouse } from "../../../../schemas/shards.js";
import { formatChange, formatDate, formatTime } from "../../../web/parts/format.js";
import { type Draft, quoted } from "../message.js";
import type { Unit } from "../periods.js";
import type { ScopePackage } from "../scope-packages.js";

/** An event about a period: what it reads, when it is sent, and what it says. */
export interface PeriodKind<Event extends PeriodEvent = PeriodEvent> {
  unit: Unit;
  /** By the statistics of the moment. */
  read: (reading: Reading) => Promise<Omit<NotificationData[Event], keyof PeriodData>>;
  /** Whether there is something to report. */
  isWorthSending: (data: NotificationData[Event]) => boolean;
  /** Numbers whose change is worth a correction. */
  figuresOf: (data: NotificationData[Event]) => number[];
  compose: (data: NotificationData[Event], owner: string) => Draft;
}

export interface Reading {
  clickhouse: ClickHouse;
  /** Null: all packages of the owner. */
  packageId: string | null;
  thresholdPercent: number;
  packages: readonly ScopePackage[];
  query: StatisticsQuery;
}

export async function readDays(clickhouse: ClickHouse, query: StatisticsQuery): Promise<PackageDay[]> {
  return query.packages.length === 0 ? [] : readPackageDays(clickhouse, query);
}

export const subjectOf = ({ package: name }: Pick<PeriodData, "package">, owner: string) =>
  quoted(name ?? owner);

export const asOf = ({ complete_through: time }: PeriodData) =>
  `Data as of ${formatTime(time)}. Days are in UTC.`;

export function signed(change: number): string {
  const text = formatChange(Math.abs(change));
  if (change === 0 || text.startsWith("×")) return text;
  return `${change > 0 ? "+" : "−"}${text}`;
}

const WEEKDAY = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" });

export const weekdayName = (date: string) => WEEKDAY.format(new Date(date));
export const weekdayOf = (date: string) => `${weekdayName(date).slice(0, 3)}, ${formatDate(date)}`;
