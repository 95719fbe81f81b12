import {
  type FailureEvent,
  type FailureOf,
  type NotificationData,
  OTHERS_MAX,
} from "../../../schemas/contracts/notification-event.js";
import { defaultThreshold } from "../../../schemas/contracts/notification-event.js";
import { withoutNulls } from "../../../schemas/formats.js";
import { type Postgres, query } from "../../base/postgres/query.js";
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
  const { select, dataOf = (row) => row as unknown as FailureOf<FailureEvent> } = READERS[rule.event];
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
  return rows.map(({ period, at: _, ...row }) => ({ period, data: dataOf(withoutNulls(row)) }));
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

interface Reader {
  /** For a `rule`: `period`, `at` and the fields of the failure. */
  select: string;
  dataOf?: (row: Record<string, unknown>) => FailureOf<FailureEvent>;
}

const recent = (time: string) => `${time} > greatest(rule.since, clock_timestamp() - interval '7 days')`;

const IS_INTERRUPTED = `i.entries @> '[{"type": "upload-interrupted"}]'`;

/** A registry that is away for a moment is asked again within half an hour. */
const FAILURES_MIN = 3;

const READERS: Record<FailureEvent, Reader> = {
  "import-failed": {
    select: `
      select i.id::text as period, i.finished_at as at, i.id::text as import, i.status,
        coalesce(p.name, x.name) as artifact, i.events_total::float8 as events_total,
        i.events_failed::float8 as events_failed_to_import, rule.threshold as threshold_percent,
        case when ${IS_INTERRUPTED} then 'upload-interrupted' else 'refused-lines' end as reason
      from imports i left join packages p on p.id = i.artifact_id left join pixels x on x.id = i.artifact_id
      where i.owner_id = rule.owner_id and i.status <> 'importing' and ${recent("i.finished_at")}
        and (rule.package_id is null or i.artifact_id = rule.package_id)
        and (${IS_INTERRUPTED} or i.events_failed > i.events_total * rule.threshold / 100)`,
  },
  "webhook-disabled": {
    // A webhook that fails again after it was enabled has failed since another time.
    select: `
      select id || ' ' || failing_since as period, updated_at as at, id::text as webhook, url,
        disabled_reason as reason
      from webhooks
      where webhooks.owner_id = rule.owner_id and not enabled and disabled_reason is not null
        and failing_since is not null and ${recent("updated_at")}`,
    dataOf: ({ url, ...row }) => ({
      ...(row as unknown as FailureOf<"webhook-disabled">),
      host: new URL(String(url)).host,
    }),
  },
  "source-failed": {
    // One that succeeds in between and fails again is told again. Messages are kept for a hundred days.
    select: `
      select id || ' ' || coalesce(last_success_at, created_at) as period, last_run_at as at, id::text as source, kind,
        name, last_error as error
      from sources
      where sources.owner_id = rule.owner_id and enabled and last_error is not null and failures >= ${FAILURES_MIN}
        and (rule.package_id is null or sources.package_id = rule.package_id) and ${recent("last_run_at")}
        and coalesce(last_success_at, created_at) > clock_timestamp() - interval '90 days'`,
  },
};
