import {
  type FailureEvent,
  NOTIFICATION_EVENT_NAMES,
  type NotificationEvent,
  type PeriodEvent,
  isPeriodEvent,
} from "../../../schemas/contracts/notification-event.js";
import { type Postgres, query } from "../../base/postgres/query.js";

/** Something that may have to be told: a notification, or a kind that webhooks of an owner subscribe to. */
export interface Rule {
  /** Null for webhooks, which are told of all packages and with the default thresholds. */
  notificationId: string | null;
  ownerId: string;
  event: NotificationEvent;
  packageId: string | null;
  thresholdPercent: number | null;
  /** What was over before is not told. */
  since: Date;
}

export type PeriodRule = Rule & { event: PeriodEvent };
export type FailureRule = Rule & { event: FailureEvent };

/** What is to be told of this owner? In the order of `ruleKey`. */
export async function readRules(pg: Postgres, ownerId: string): Promise<Rule[]> {
  const text = `
    select id as "notificationId", owner_id as "ownerId", event, package_id as "packageId",
      threshold_percent as "thresholdPercent", enabled_at as since
    from notifications where owner_id = $2 and enabled
    union all
    select null, owner_id, kind, null, null,
      -- Not the last change: a new secret on a Monday would lose the digest of the week.
      least(min(updated_at), greatest(min(created_at), clock_timestamp() - interval '2 days'))
    from webhooks cross join unnest(event_kinds) kind
    where owner_id = $2 and enabled and kind = any ($1) group by owner_id, kind`;
  const rules = await query<Rule>(pg, text, [NOTIFICATION_EVENT_NAMES, ownerId]);
  return rules.sort((one, other) => (ruleKey(one) < ruleKey(other) ? -1 : 1));
}

/** Failures come first: they read no events. Rules that tell the same are neighbours. */
export function ruleKey({ event, packageId, notificationId }: Rule): string {
  return [isPeriodEvent(event) ? 1 : 0, event, packageId, notificationId].join(" ");
}
