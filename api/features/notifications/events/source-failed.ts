import type { SourceFailedData } from "../../../../schemas/contracts/notification-event.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { formatFull } from "../../../web/parts/format.js";
import { type Draft, oneLine, quoted } from "../message.js";
import { type FailureKind, ONCE_AN_HOUR, listed, recent } from "./failure-kind.js";

/** A registry that is away for a moment is asked again within half an hour. */
const FAILURES_MIN = 3;

export const sourceFailed: FailureKind<"source-failed"> = {
  // A source that succeeds and then fails again is reported again. Messages are kept for a hundred days.
  select: `
    select id || ' ' || coalesce(last_success_at, created_at) as period, last_run_at as at, id::text as source, kind,
      name, last_error as error
    from sources
    where sources.owner_id = rule.owner_id and enabled and last_error is not null and failures >= ${FAILURES_MIN}
      and (rule.package_id is null or sources.package_id = rule.package_id) and ${recent("last_run_at")}
      and coalesce(last_success_at, created_at) > clock_timestamp() - interval '90 days'`,
  example: () => ({
    source: NIL_UUID,
    kind: "npm",
    name: "an example",
    error: "This is an example. None of your sources has failed.",
  }),
  compose,
};

function compose(data: SourceFailedData, owner: string): Draft {
  const sources = { label: "Open registry counts", end: "/settings/sources" };
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: registry counts of ${formatFull(data.failures)} sources could not be fetched`,
      lines: [
        `Fetching the registry counts of ${formatFull(data.failures)} sources has failed at least three ` +
          "times in a row.",
        ...listed(data, ({ kind, name, error }) => `${kind} ${quoted(name)}: ${oneLine(error)}`),
        "The service keeps retrying, and will backfill missing days if the registry still has them.",
      ],
      small: ONCE_AN_HOUR,
      ...sources,
    };
  const source = `${data.kind} ${quoted(data.name)}`;
  return {
    subject: `${quoted(owner)}: registry counts of ${source} could not be fetched`,
    lines: [
      `Fetching the registry counts of ${source} has failed at least three times in a row. Last error: ` +
        oneLine(data.error, 500),
      "The service keeps retrying, and will backfill missing days if the registry still has them.",
    ],
    ...sources,
  };
}
