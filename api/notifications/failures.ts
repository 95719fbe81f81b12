import type {
  FailureEvent,
  ImportFailedData,
  SourceFailedData,
  WebhookDisabledData,
} from "../../schemas/contracts/notification-data.js";
import { THRESHOLDS } from "../../schemas/contracts/notification.js";
import { type Nullable, withoutNulls } from "../../schemas/formats.js";
import { type Postgres, query } from "../postgres/query.js";
import type { FailureRule, Rule } from "./rules.js";

type FailureData = ImportFailedData | WebhookDisabledData | SourceFailedData;

export interface Failure {
  /** Names it for good. */
  period: string;
  data: FailureData;
}

/** What failed since the rule began, and in the last week? */
export async function readFailures(pg: Postgres, rule: FailureRule): Promise<Failure[]> {
  const read = READERS[rule.event];
  return (await read(pg, rule)).map(({ period, ...data }) => ({ period, data: data as FailureData }));
}

const READERS: Record<FailureEvent, (pg: Postgres, rule: Rule) => Promise<({ period: string } & object)[]>> =
  {
    "import-failed": readFailedImports,
    "webhook-disabled": readDisabledWebhooks,
    "source-failed": readFailedSources,
  };

const recent = (time: string) => `${time} > greatest($2::timestamptz, clock_timestamp() - interval '7 days')`;

async function readFailedImports(pg: Postgres, rule: Rule) {
  const text = `
    select i.id::text as period, i.id::text as import, i.status, coalesce(p.name, x.name) as artifact,
      i.events_total::float8 as events_total, i.events_failed::float8 as events_failed_to_import,
      $4::float8 as threshold_percent,
      case when ${IS_INTERRUPTED} then 'upload-interrupted' else 'refused-lines' end as reason
    from imports i left join packages p on p.id = i.artifact_id left join pixels x on x.id = i.artifact_id
    where i.owner_id = $1 and i.status <> 'importing' and ${recent("i.finished_at")}
      and ($3::uuid is null or i.artifact_id = $3)
      and (${IS_INTERRUPTED} or i.events_failed > i.events_total * $4::float8 / 100)
    order by i.finished_at`;
  const threshold = rule.thresholdPercent ?? THRESHOLDS["import-failed"];
  const rows = await query<Nullable<ImportFailedData> & { period: string }>(pg, text, [
    rule.ownerId,
    rule.since,
    rule.packageId,
    threshold,
  ]);
  return rows.map((row) => withoutNulls<ImportFailedData & { period: string }>(row));
}

const IS_INTERRUPTED = `i.entries @> '[{"type": "upload-interrupted"}]'`;

/** A webhook that fails again after it was enabled has failed since another time. */
async function readDisabledWebhooks(pg: Postgres, { ownerId, since }: Rule) {
  const text = `
    select id || ' ' || failing_since as period, id::text as webhook, url, disabled_reason as reason
    from webhooks where owner_id = $1 and not enabled and disabled_reason is not null and failing_since is not null
      and ${recent("updated_at")}`;
  const rows = await query<WebhookDisabledData & { period: string; url: string }>(pg, text, [ownerId, since]);
  return rows.map(({ url, ...row }) => ({ ...row, host: new URL(url).host }));
}

/** One that succeeds in between and fails again is told again. Messages are kept for a hundred days. */
async function readFailedSources(pg: Postgres, { ownerId, since, packageId }: Rule) {
  const text = `
    select id || ' ' || coalesce(last_success_at, created_at) as period, id::text as source, kind, name, last_error as error
    from sources
    where owner_id = $1 and enabled and last_error is not null and failures >= ${FAILURES_MIN}
      and ($3::uuid is null or package_id = $3) and ${recent("last_run_at")}
      and coalesce(last_success_at, created_at) > clock_timestamp() - interval '90 days'`;
  return query<SourceFailedData & { period: string }>(pg, text, [ownerId, since, packageId]);
}

/** A registry that is away for a moment is asked again within half an hour. */
const FAILURES_MIN = 3;
