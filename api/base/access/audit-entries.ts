import { v7 as uuidv7 } from "uuid";
import { type AuditEntryRecord, OPERATOR, SERVICE } from "../../../schemas/contracts/audit-entry.js";
import { withoutNulls } from "../../../schemas/formats.js";
import type { Action, AuditKind } from "./resources.js";
import { isBlocked } from "./visible-packages.js";
import { type Page, type Postgres, deleteInBatches, query, utc } from "../postgres/query.js";

/** A change, with its target's name at that time. */
export interface Changed {
  ownerId: string;
  target: { kind: AuditKind; id: string; name: string };
  /** The new and changed fields, without secrets. */
  changes?: object;
  /** Of an action that leaves everything as it was, such as a test of a webhook: it can be repeated without end. */
  isRepeatable?: true;
}

export interface AuditEntry extends Changed {
  by: Actor | typeof OPERATOR | typeof SERVICE;
  action: Action | OperatorAction | ServiceAction | SignInAction;
}

interface Actor {
  /** Undefined where nobody is known. */
  accountId: string | undefined;
  tokenName: string | undefined;
  requestId: string;
}

/** Of the command line alone, but for `account.create`: the first account makes itself. Others have the API's names. */
export const OPERATOR_ACTIONS = [
  "account.create",
  "account.sign-in-link",
  "account.disable",
  "account.enable",
  "account.rename",
  "account.remove",
  "organization.remove",
  "export.grant",
  "export.revoke",
  "dead-letters.retry",
  "dead-letters.drop",
  "npm-name.assign",
] as const;
export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

/** Not operations of the API. */
export const SIGN_IN_ACTIONS = [
  "user.sign-in",
  "user.sign-out",
  "user.end-session",
  "user.set-password",
  "user.remove-password",
  "user.show-token",
] as const;
export type SignInAction = (typeof SIGN_IN_ACTIONS)[number];

export const SERVICE_ACTIONS = [
  "webhooks.disable-failing",
  "annotations.add-releases",
  "notifications.confirm-address",
  "notifications.unsubscribe",
  "notifications.subscribe-again",
  "user.sign-in-failed",
] as const;
type ServiceAction = (typeof SERVICE_ACTIONS)[number];

/** Of these, which change nothing and may be many, the newest of each actor are kept; see `insertAccessEntry`. */
export const ACCESS_ACTIONS = ["export.read", "packages.export", "user.sign-in-failed"] as const;

/** Writes the entries that it finds; nobody waits for them. */
export type RecordAccess = (find: () => Promise<AuditEntry[]>) => void;

/**
 * Writes one entry, and deletes the owner's oldest of that action and actor beyond `entriesMax`. An actor is a token, so
 * none can push out what others did. Nor its own: within a minute, entries about the same thing are one. It keeps all
 * their days, and of the other `NARROWING` fields those that all have, so a small export hides no larger one. One call
 * at a time.
 */
export async function insertAccessEntry(pg: Postgres, entry: AuditEntry, entriesMax: number): Promise<void> {
  const text = `
    with kept as (
      select e.id, e.target_id, e.changes, e.created_at from audit_entries e
      where e.owner_id = $2 and e.action = $3 and e.account_id is not distinct from $4
        and e.token_name is not distinct from $5
    ), same as (
      select id from kept where target_id = $6 and changes - ${NARROWING} = $7::jsonb - ${NARROWING}
        and created_at > clock_timestamp() - interval '1 minute'
      limit 1
    ), widened as (
      update audit_entries e
      set changes = jsonb_strip_nulls(jsonb_build_object(
          'startDate', least(e.changes ->> 'startDate', $7 ->> 'startDate'),
          'endDate', greatest(e.changes ->> 'endDate', $7 ->> 'endDate')))
        || (select coalesce(jsonb_object_agg(key, value), '{}')
          from jsonb_each(e.changes) own join jsonb_each($7) new using (key, value))
      where id in (select id from same)
    ), surplus as (
      delete from audit_entries where not exists (select from same)
        and id in (select id from kept order by id desc offset $8)
    )
    ${insertAuditEntries(1)} where not exists (select from same)`;
  const row = auditRow(entry);
  const about = [row.owner_id, row.action, row.account_id, row.token_name, row.target_id, row.changes];
  await query(pg, text, [JSON.stringify([row]), ...about, entriesMax - 1]);
}

const NARROWING = "'{startDate,endDate,format,stage,search,sort}'::text[]";

/**
 * Writes one entry. `client` must be that of the change's transaction, so that both are stored or neither is. Of equal
 * entries that tell of no change, an actor has one a minute.
 */
export async function insertAuditEntry(client: Postgres, entry: AuditEntry): Promise<void> {
  if (!changesNothing(entry)) return void (await query(client, insertAuditEntries(1), [auditRows([entry])]));
  const text = `
    ${insertAuditEntries(1)} where not exists (
      select from audit_entries e
      where e.owner_id = entry.owner_id and e.action = entry.action and e.target_id = entry.target_id and e.id > $2
        and e.account_id is not distinct from entry.account_id and e.token_name is not distinct from entry.token_name
        and e.changes - ${STAMPS} = entry.changes - ${STAMPS}
    )`;
  // Ids begin with their time.
  const minuteAgo = uuidv7({ msecs: Date.now() - 60_000, random: new Uint8Array(16), seq: 0 });
  await query(client, text, [auditRows([entry]), minuteAgo]);
}

function changesNothing({ isRepeatable, changes }: AuditEntry): boolean {
  if (isRepeatable || changes === undefined) return isRepeatable === true;
  return Object.keys(changes).every((name) => STAMP_NAMES.includes(name));
}

/** A record that was saved as it was has another stamp. */
const STAMP_NAMES = ["updated_at", "updatedAt"];
const STAMPS = `'{${STAMP_NAMES.join(",")}}'::text[]`;

/** SQL: writes the entries of parameter number `parameter`, which is `auditRows`; a `where` may follow. */
export function insertAuditEntries(parameter: number): string {
  const names = AUDIT_COLUMNS.map(([name]) => name).join(", ");
  const columns = AUDIT_COLUMNS.map(([name, type]) => `${name} ${type}`).join(", ");
  return `insert into audit_entries (${names})
    select ${names} from json_to_recordset($${parameter}::json) as entry (${columns})`;
}

/** The parameter of `insertAuditEntries`: JSON. */
export function auditRows(entries: readonly AuditEntry[]): string {
  return JSON.stringify(entries.map(auditRow));
}

const AUDIT_COLUMNS = [
  ["id", "uuid"],
  ["owner_id", "uuid"],
  ["account_id", "uuid"],
  ["token_name", "text"],
  ["request_id", "text"],
  ["action", "text"],
  ["target_kind", "text"],
  ["target_id", "text"],
  ["target_name", "text"],
  ["changes", "jsonb"],
] as const;

type AuditRow = Record<(typeof AUDIT_COLUMNS)[number][0], unknown>;

function auditRow({ ownerId, by, action, target, changes = {} }: AuditEntry): AuditRow {
  const actor = by === OPERATOR || by === SERVICE ? undefined : by;
  return {
    id: uuidv7(),
    owner_id: ownerId,
    account_id: actor?.accountId,
    token_name: actor?.tokenName,
    request_id: actor?.requestId,
    action,
    target_kind: target.kind,
    target_id: target.id,
    target_name: target.name,
    changes,
  };
}

export interface AuditFilter {
  action: string | undefined;
  /** A username, in any case, `OPERATOR` or `SERVICE`. */
  actor: string | undefined;
}

/** Newest first, without packages that the account is blocked from. One entry more than the page if there is a next. */
export async function listAuditEntries(
  pg: Postgres,
  {
    accountId,
    ownerId,
    page,
    filter,
  }: { accountId: string; ownerId: string; page: Page; filter: AuditFilter },
): Promise<AuditEntryRecord[]> {
  const text = `
    select e.id, e.action, coalesce(actor.name, e.account_name, ${NOBODY}) as actor, e.token_name as token,
      json_build_object('kind', e.target_kind, 'id', e.target_id, 'name', e.target_name) as target, e.changes,
      e.request_id, ${utc("e.created_at")} as created_at
    from audit_entries e left join owners actor on actor.id = e.account_id
    where e.owner_id = $1 and ($2::uuid is null or e.id < $2)
      and ($4::text is null or e.action = $4)
      and ($5::text is null or case when $5 in ('${OPERATOR}', '${SERVICE}')
        then e.account_id is null and e.account_name is null and ${NOBODY} = $5
        else e.account_id = (select id from owners where name_key = lower($5 collate "C"))
          or lower(e.account_name collate "C") = lower($5 collate "C") end)
      and not (${IS_OF_BLOCKED})
    order by e.id desc limit $3`;
  const values = [ownerId, page.after ?? null, page.perPage + 1];
  const rows = await query<Row>(pg, text, [
    ...values,
    filter.action ?? null,
    filter.actor ?? null,
    accountId,
  ]);
  return rows.map(withoutNulls<AuditEntryRecord>);
}

/** SQL: whether the entry `e` is about a package that the account $6 is blocked from, or about a thing of it. */
const IS_OF_BLOCKED = isBlocked({
  account: "$6",
  owner: "e.owner_id",
  which: `
    blocked.package_id::text in (e.target_id, e.changes ->> 'package', e.changes ->> 'package_id')
    or e.target_kind = 'import' and exists (
      select from imports i where i.id::text = e.target_id and i.artifact_id = blocked.package_id)`,
});

/** The actor of an entry without an account: the action decides between operator and service. */
const NOBODY = `case when e.action in (${SERVICE_ACTIONS.map((action) => `'${action}'`).join(", ")})
  then '${SERVICE}' else '${OPERATOR}' end`;

type Row = { [Field in keyof Required<AuditEntryRecord>]: Required<AuditEntryRecord>[Field] | null };

/** The fields of `after` that differ from `before`; a removed field is null. */
export function changedFields(before: object, after: object): Record<string, unknown> {
  const old = before as Record<string, unknown>;
  const fresh = after as Record<string, unknown>;
  const names = new Set([...Object.keys(old), ...Object.keys(fresh)]);
  const changed = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]));
  return Object.fromEntries(changed.map((name) => [name, fresh[name] ?? null]));
}

/** Deletes the entries of more than so many days ago. Answers how many. */
export function deleteOldAuditEntries(pg: Postgres, days: number): Promise<number> {
  const where = "t.created_at < now() - make_interval(days => $1)";
  return deleteInBatches(pg, { table: "audit_entries", where, values: [days] });
}
