import type { FailureOf, ImportFailedData } from "../../../../schemas/contracts/notification-event.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { numbered } from "../../../../schemas/records/numbered.js";
import { path } from "../../../web/address.js";
import { formatFull, formatShare } from "../../../web/parts/format.js";
import { type Draft, quoted } from "../message.js";
import { type FailureKind, ONCE_AN_HOUR, listed, recent } from "./failure-kind.js";

type Failure = FailureOf<"import-failed">;

const IS_INTERRUPTED = `i.entries @> '[{"type": "upload-interrupted"}]'`;

export const importFailed: FailureKind<"import-failed"> = {
  select: `
    select i.id::text as period, i.finished_at as at, i.id::text as import, i.status,
      coalesce(p.name, x.name) as artifact, i.events_total::float8 as events_total,
      i.events_failed::float8 as events_failed_to_import, rule.threshold as threshold_percent,
      case when ${IS_INTERRUPTED} then 'upload-interrupted' else 'refused-lines' end as reason
    from imports i left join packages p on p.id = i.artifact_id left join pixels x on x.id = i.artifact_id
    where i.owner_id = rule.owner_id and i.status <> 'importing' and ${recent("i.finished_at")}
      and (rule.package_id is null or i.artifact_id = rule.package_id)
      and (${IS_INTERRUPTED} or i.events_failed > i.events_total * rule.threshold / 100)`,
  example,
  compose,
};

function example(threshold: number): Failure {
  const failed: Failure = {
    import: NIL_UUID,
    status: "done",
    artifact: "an example",
    events_total: 1_200,
    events_failed_to_import: 60,
    threshold_percent: threshold,
    reason: "refused-lines",
  };
  const refused = Math.floor((failed.events_total * threshold) / 100) + 1;
  if (refused <= failed.events_failed_to_import) return failed;
  if (refused <= failed.events_total) return { ...failed, events_failed_to_import: refused };
  // No number of rejected lines exceeds this threshold, but an interrupted import is always reported.
  return { ...failed, status: "aborted", events_failed_to_import: 0, reason: "upload-interrupted" };
}

function compose(data: ImportFailedData, owner: string): Draft {
  const into = intoOf(data, owner);
  const limit = `You get this message when more than ${data.threshold_percent} % of an import's lines are rejected.`;
  if (data.failures > 1)
    return {
      subject: `${quoted(owner)}: ${formatFull(data.failures)} imports failed`,
      lines: [
        `${formatFull(data.failures)} imports were interrupted or had rejected lines.`,
        ...listed(data, (each) => `${intoOf(each, owner)}: ${refusedOf(each)}`),
      ],
      small: [limit, ...ONCE_AN_HOUR],
      label: "Open imports",
      end: "/imports",
    };
  const isBroken = data.reason === "upload-interrupted";
  return {
    subject: `${into}: ${isBroken ? "an import was interrupted" : `${refusedOf(data)} in an import`}`,
    lines: [
      isBroken
        ? `The upload of an import into ${into} was interrupted. Nothing was imported; send it again.`
        : `An import into ${into} rejected ${formatFull(data.events_failed_to_import)} of ` +
          `${numbered(data.events_total, "line")} (${shareOf(data)}). The import's page shows the reasons. ` +
          "There you can download the rejected lines, fix them and send them again.",
    ],
    small: [limit],
    label: "Open import",
    end: path`/imports/${data.import}`,
  };
}

const intoOf = ({ artifact }: Failure, owner: string) => quoted(artifact ?? owner);

const shareOf = ({ events_total: total, events_failed_to_import: failed }: Failure) =>
  formatShare(total === 0 ? 0 : failed / total);

function refusedOf(data: Failure): string {
  if (data.reason === "upload-interrupted") return "upload interrupted";
  const { events_failed_to_import: failed } = data;
  return `${numbered(failed, "line")} rejected (${shareOf(data)})`;
}
