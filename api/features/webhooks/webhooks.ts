import type { Pool } from "pg";
import type { Sealer } from "../../base/identity/tokens.js";
import type { AddressGuard } from "../../base/outbound/guard-address.js";
import { v7 as uuidv7 } from "uuid";
import {
  LISTED_WEBHOOK,
  type ListedWebhook,
  WEBHOOK,
  WEBHOOK_CREATE,
  type WebhookCreate,
  type WebhookDay,
  type WebhookRecord,
} from "../../../schemas/contracts/webhook.js";
import { DELIVERY_STATES } from "../../../schemas/contracts/webhook-event.js";
import { type Nullable, withoutNulls } from "../../../schemas/formats.js";
import { type Page, type Postgres, query, readCount, utc } from "../../base/postgres/query.js";
import { columnsOf, insertRow, selectList } from "../../base/postgres/record-rows.js";
import { Problem } from "../../../schemas/problem.js";
import { wholeOwnerFor } from "../../base/access/authorise.js";
import { findById, named, toOwner } from "../../base/http/resource.js";
import type { Call } from "../../base/http/route.js";

export interface WebhookDeps {
  pg: Pool;
  guard: AddressGuard;
  /** Its kind is "webhook-secret". */
  sealer: Sealer;
}

interface WebhookKey {
  ownerId: string;
  id: string;
}

export function newWebhookId(): string {
  return uuidv7();
}

/** The secret is sealed for its id. The owner must be locked, because its webhooks are counted. */
export async function insertWebhook(
  pg: Postgres,
  { ownerId, id, secret, webhook }: WebhookKey & { secret: Buffer; webhook: WebhookCreate },
): Promise<void> {
  const sent = columnsOf(WEBHOOK_CREATE, { enabled: true, ...webhook });
  await insertRow(pg, "webhooks", { id, owner_id: ownerId, secret, ...sent });
}

/** A new URL, or enabling again, resets the record of failures. Without a change, `updated_at` stays. */
export async function updateWebhook(
  pg: Postgres,
  { id, webhook }: { id: string; webhook: Required<WebhookCreate> },
): Promise<void> {
  const text = `
    update webhooks set url = $2, event_kinds = $3, enabled = $4, updated_at = clock_timestamp(),
      disabled_reason = case when $4 then null else disabled_reason end,
      failing_since = case when ${IS_AS_NEW} then null else failing_since end,
      failed_days = case when ${IS_AS_NEW} then 0 else failed_days end
    where id = $1 and (url, event_kinds, enabled) is distinct from ($2::text, $3::text[], $4::boolean)`;
  const { url, event_kinds: kinds, enabled } = webhook;
  await query(pg, text, [id, url, kinds, enabled]);
}

const IS_AS_NEW = "url <> $2 or ($4 and not enabled)";

/** The current secret becomes the old one, valid for another day. */
export async function updateWebhookSecret(
  pg: Postgres,
  { id, secret }: { id: string; secret: Buffer },
): Promise<void> {
  const text = `
    update webhooks set secret = $2, old_secret = secret, old_secret_until = clock_timestamp() + interval '24 hours',
      updated_at = clock_timestamp()
    where id = $1`;
  await query(pg, text, [id, secret]);
}

/** False when there is no old secret that is still valid. */
export async function deleteOldWebhookSecret(pg: Postgres, id: string): Promise<boolean> {
  const text = `
    update webhooks set old_secret = null, old_secret_until = null, updated_at = clock_timestamp()
    where id = $1 and old_secret_until > clock_timestamp() returning id`;
  return (await query(pg, text, [id])).length > 0;
}

/** Also deletes its deliveries and their attempts. */
export async function deleteWebhook(pg: Postgres, id: string): Promise<void> {
  await query(pg, "delete from webhooks where id = $1", [id]);
}

export function countWebhooks(pg: Postgres, ownerId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from webhooks where owner_id = $1", [ownerId]);
}

export async function readWebhook(
  pg: Postgres,
  { ownerId, id }: WebhookKey,
): Promise<WebhookRecord | undefined> {
  const text = `${selecting(WEBHOOK)} where w.owner_id = $1 and w.id = $2`;
  const [row] = await query<Nullable<WebhookRecord>>(pg, text, [ownerId, id]);
  return row && withoutNulls<WebhookRecord>(row);
}

export async function readWebhookSecrets(
  pg: Postgres,
  { ownerId, id }: WebhookKey,
): Promise<{ secret: Buffer; oldSecret: Buffer | null } | undefined> {
  const text = `
    select secret, case when old_secret_until > clock_timestamp() then old_secret end as "oldSecret"
    from webhooks where owner_id = $1 and id = $2`;
  const [row] = await query<{ secret: Buffer; oldSecret: Buffer | null }>(pg, text, [ownerId, id]);
  return row;
}

/** Newest first. Returns one webhook more than the page if there is a next page. */
export async function listWebhooks(
  pg: Postgres,
  { ownerId, page }: { ownerId: string; page: Page },
): Promise<ListedWebhook[]> {
  const text = `${selecting(LISTED_WEBHOOK)}
    where w.owner_id = $1 and ($2::uuid is null or w.id < $2) order by w.id desc limit $3`;
  const rows = await query<Nullable<ListedWebhook>>(pg, text, [
    ownerId,
    page.after ?? null,
    page.perPage + 1,
  ]);
  return rows.map(withoutNulls<ListedWebhook>);
}

export async function readWebhookDay(pg: Postgres, id: string): Promise<WebhookDay> {
  const text = `select (${LAST_24_HOURS}) as day from webhooks w where w.id = $1`;
  const [row] = await query<{ day: WebhookDay }>(pg, text, [id]);
  if (row === undefined) throw new Problem("not-found", "The webhook has been deleted.");
  return row.day;
}

const COUNTS = DELIVERY_STATES.map(
  (state) => `'${state}', count(distinct d.id) filter (where d.state = '${state}')`,
);
const answersWithin = (share: number) =>
  `round(percentile_cont(${share}) within group (order by a.duration_ms) filter (where a.status is not null))`;

const LAST_24_HOURS = `
  select json_strip_nulls(json_build_object(${COUNTS.join(", ")}, 'attempts', count(a.id),
    'median_ms', ${answersWithin(0.5)}, 'p95_ms', ${answersWithin(0.95)}))
  from webhook_deliveries d left join webhook_attempts a on a.delivery_id = d.id
  where d.webhook_id = w.id and d.created_at > clock_timestamp() - interval '24 hours'`;

function selecting(schema: typeof WEBHOOK | typeof LISTED_WEBHOOK): string {
  const fields = selectList(schema, "w", {
    owner: "o.name",
    old_secret_until: `case when w.old_secret_until > clock_timestamp() then ${utc("w.old_secret_until")} end`,
    last_24_hours: `(${LAST_24_HOURS})`,
  });
  return `select ${fields} from webhooks w join owners o on o.id = w.owner_id`;
}

/** The caller must manage the owner's webhooks, and be blocked from no package. Throws `not-found`, `forbidden`. */
export const findWebhook = findById({ name: "webhook", admit: toOwner(wholeOwnerFor), read: readWebhook });

export async function webhookFor(
  pg: Postgres,
  call: Pick<Call<"webhooks.manage">, "account" | "action" | "param">,
): Promise<{ ownerId: string; webhook: WebhookRecord }> {
  const { owner, row: webhook } = await findWebhook(pg, named({ name: "webhook" }, call));
  return { ownerId: owner.id, webhook };
}

export function webhookTarget({ id, url }: Pick<WebhookRecord, "id" | "url">) {
  return { kind: "webhook", id, name: url } as const;
}
