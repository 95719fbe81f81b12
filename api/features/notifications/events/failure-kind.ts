import type {
  FailureEvent,
  FailureOf,
  NotificationData,
} from "../../../../schemas/contracts/notification-event.js";
import { formatFull } from "../../../web/parts/format.js";
import type { Draft } from "../message.js";

/** An event about a failure: where it is found, and what is said of it. */
export interface FailureKind<Event extends FailureEvent = FailureEvent> {
  /** SQL, for a `rule`: `period`, which identifies the failure for good, `at` and the fields of the failure. */
  select: string;
  /** By default, a row is the failure. */
  failureOf?: (row: Record<string, unknown>) => FailureOf<Event>;
  /** For previews while there is none. A rule with this threshold would report it. */
  example: (thresholdPercent: number) => FailureOf<Event>;
  compose: (data: NotificationData[Event], owner: string) => Draft;
}

/** SQL: whether a time is after the start of the rule, and in the last week. */
export const recent = (time: string) =>
  `${time} > greatest(rule.since, clock_timestamp() - interval '7 days')`;

const LISTED_MAX = 10;
export const ONCE_AN_HOUR = ["All failures within an hour are combined in one message."];

/** A line for each of the first failures, and one for how many are left. */
export function listed<Failure>(
  data: Failure & { failures: number; others: readonly Failure[] },
  lineOf: (failure: Failure) => string,
): string[] {
  const first = [data, ...data.others].slice(0, LISTED_MAX);
  const left = data.failures - first.length;
  return [...first.map(lineOf), ...(left > 0 ? [`And ${formatFull(left)} more.`] : [])];
}
