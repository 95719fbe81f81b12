import type { StatisticsQuery } from "../../../aggregate/statistics/statistics-query.js";
import {
  type NotificationData,
  type PeriodEvent,
  defaultThreshold,
} from "../../../schemas/contracts/notification-event.js";
import type { DateRange } from "../../../schemas/date-range.js";
import type { ClickHouse } from "../../../schemas/shards.js";
import type { Postgres } from "../../base/postgres/query.js";
import { readExportState } from "../imports/export-state.js";
import { listPixelNames } from "../packages/pixels.js";
import { periodOf } from "../statistics/statistics-answer.js";
import { periodKind } from "./events/events.js";
import type { PeriodRule } from "./rules.js";
import { readScopePackages } from "./scope-packages.js";

export interface PeriodReading {
  pg: Postgres;
  clickhouse: ClickHouse;
  signal: AbortSignal;
}

type ToldRule = Pick<PeriodRule, "ownerId" | "event" | "packageId" | "thresholdPercent">;

/** What a message about the period says, by the statistics of the moment. */
export async function readPeriod(
  { pg, clickhouse, signal }: PeriodReading,
  rule: ToldRule,
  range: DateRange,
): Promise<NotificationData[PeriodEvent]> {
  const packages = await readScopePackages(pg, rule);
  const pixels = rule.packageId === null ? await listPixelNames(pg, rule.ownerId) : [];
  const { completeThrough, unsettled } = await readExportState(pg, [rule.ownerId]);
  const query: StatisticsQuery = {
    packages: packages.map(({ id }) => id),
    libraryTypes: new Set(packages.map(({ libraryType }) => libraryType)),
    pixels: pixels.map(({ id }) => id),
    range,
    filters: [],
    automated: "include",
    unsettled,
    signal,
  };
  const about = {
    ...periodOf(range),
    complete_through: completeThrough,
    correction: false,
    ...(rule.packageId !== null && packages[0] !== undefined && { package: packages[0].name }),
  };
  const { event, packageId } = rule;
  const thresholdPercent = rule.thresholdPercent ?? defaultThreshold(event) ?? 0;
  const read = await periodKind(event).read({ clickhouse, packageId, thresholdPercent, packages, query });
  return { ...about, ...read } as NotificationData[PeriodEvent];
}
