import {
  type FailureEvent,
  type FailureOf,
  type NotificationData,
  OTHERS_MAX,
  defaultThreshold,
} from "../../../schemas/contracts/notification-event.js";
import { withoutNulls } from "../../../schemas/formats.js";
import { type Postgres, query } from "../../base/postgres/query.js";
import { failureKind } from "./events/events.js";
import type { FailureRule } from "./rules.js";

export interface Failure {
  /** Names it for good. */
  period: string;
  data: FailureOf<FailureEvent>;
}

/** Bounds a message. Those beyond are told by the next one. */
const FAILURES_MAX = 1_000;

/** What failed since the rule began, and in the last week, that it has not told yet? In the order of time. */
export async function readFailures(pg: Postgres, rule: FailureRule): Promise<Failure[]> {
  const { select, failureOf = (row) => row as unknown as FailureOf<FailureEvent> } = failureKind(rule.event);
  const text = `
    select f.* from (
      select $1::uuid as owner_id, $2::timestamptz as since, $3::uuid as package_id, $4::float8 as threshold
    ) rule cross join lateral (${select}) f
    where not exists (
      select from notification_messages m
      where coalesce(m.notification_id, m.owner_id) = $5 and m.event = $6 and m.period = f.period and m.corrects is null
    )
    order by f.at, f.period limit ${FAILURES_MAX}`;
  const { ownerId, since, packageId, thresholdPercent, notificationId, event } = rule;
  const threshold = thresholdPercent ?? defaultThreshold(event);
  const values = [ownerId, since, packageId, threshold, notificationId ?? ownerId, event];
  const rows = await query<Row>(pg, text, values);
  return rows.map(({ period, at: _, ...row }) => ({ period, data: failureOf(withoutNulls(row)) }));
}

/** What one message says of these failures, of which there is one at least. */
export function gatheredData(failures: readonly Failure[]): NotificationData[FailureEvent] {
  const [first, ...others] = failures.map(({ data }) => data);
  return {
    ...first,
    failures: failures.length,
    others: others.slice(0, OTHERS_MAX),
  } as NotificationData[FailureEvent];
}

interface Row extends Record<string, unknown> {
  period: string;
  at: Date;
}

/** For previews while there is no failure. */
export function exampleOf(
  event: FailureEvent,
  { thresholdPercent }: { thresholdPercent: number | null },
): NotificationData[FailureEvent] {
  const data = failureKind(event).example(thresholdPercent ?? defaultThreshold(event) ?? 0);
  return gatheredData([{ period: "", data }]);
}
