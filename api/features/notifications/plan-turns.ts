import { NOTIFICATION_EVENT_NAMES } from "../../../schemas/contracts/notification-event.js";
import { type Postgres, query } from "../../base/postgres/query.js";

/** An owner whose rules are to be gone through, from the one after `after`, or from the first. */
export interface PlanTurn {
  ownerId: string;
  /** The owner itself, or the account that made the organization: its turns come one after the other. */
  accountId: string;
  after: string | null;
}

export interface TurnsWanted {
  /** Owners whose rules were gone through from the first since then are done. */
  since: Date;
  /** Accounts that have a turn already. */
  except: readonly string[];
}

const TURNS_MAX = 100;

/** The next turns, at most one of each account: first of those that have waited longest since their last one. */
export async function readTurns(pg: Postgres, { since, except }: TurnsWanted): Promise<PlanTurn[]> {
  const text = `
    with owners_with_rules as (
      select owner_id from notifications where enabled
      union
      select owner_id from webhooks where enabled and event_kinds && $1::text[]
    ),
    known as (
      select r.owner_id, coalesce(o.made_by, r.owner_id) as account_id, p.after, p.turn_at,
        max(p.turn_at) over (partition by coalesce(o.made_by, r.owner_id)) as account_turn_at,
        p.after is not null or p.begun_at is null or p.begun_at < $2 as is_due
      from owners_with_rules r left join organizations o on o.id = r.owner_id
      left join notification_plans p on p.owner_id = r.owner_id
    ),
    next as (
      select distinct on (account_id) * from known
      where is_due and account_id <> all ($3::uuid[])
      order by account_id, turn_at nulls first, owner_id
    )
    select owner_id as "ownerId", account_id as "accountId", after from next
    order by account_turn_at nulls first, account_id limit $4`;
  return query<PlanTurn>(pg, text, [NOTIFICATION_EVENT_NAMES, since, except, TURNS_MAX]);
}

/** Planning goes on after the rule `after` at the owner's next turn, or is through with its rules. */
export async function putTurn(
  pg: Postgres,
  { ownerId, since, after }: { ownerId: string; since: Date; after: string | null },
): Promise<void> {
  const text = `
    insert into notification_plans as p (owner_id, begun_at, turn_at, after)
    select id, $2, clock_timestamp(), $3 from owners where id = $1
    on conflict (owner_id) do update set turn_at = excluded.turn_at, after = excluded.after,
      begun_at = case when p.after is null then greatest(p.begun_at, excluded.begun_at) else p.begun_at end`;
  await query(pg, text, [ownerId, since, after]);
}

export async function readClock(pg: Postgres): Promise<Date> {
  const [row] = await query<{ now: Date }>(pg, "select clock_timestamp() as now");
  return row?.now ?? new Date();
}
