import { type Postgres, query } from "../../base/postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";

export interface RunState {
  since: Date;
  /** The owner for which this run has stopped waiting for imports. */
  overdue: string | undefined;
}

interface Turn {
  ownerId: string;
  run: RunState;
}

/** In a transaction: locks the owner for it. False while imports of the owner run. */
export async function takeTurn(client: Postgres, turn: Turn): Promise<boolean> {
  await query(client, `select pg_advisory_xact_lock(${LOCK_KEY})`, [turn.ownerId]);
  return !(await isImporting(client, turn));
}

const LOCK_KEY = "hashtextextended('funnel of ' || $1::text, 0)";

/** Waits for the owner's imports, for at most a day by the database's clock: imports cannot delay runs for ever. */
async function isImporting(pg: Postgres, { ownerId, run }: Turn): Promise<boolean> {
  const [row] = await query<{ importing: boolean }>(pg, IMPORTING, [ownerId, run.since]);
  if (row?.importing === true && run.overdue !== ownerId && !(await isOverdue(pg, ownerId))) return true;
  if (row?.importing === true) run.overdue = ownerId;
  await query(pg, "delete from funnel_waits where owner_id = $1", [ownerId]);
  return false;
}

const IMPORTING = `
  select exists (
    select from imports
    where owner_id = $1 and created_at > now() - interval '1 day'
      and (${IS_UNSETTLED} or updated_at > $2)
  ) as importing`;

async function isOverdue(pg: Postgres, ownerId: string): Promise<boolean> {
  const text = `
    insert into funnel_waits as waiting (owner_id, since) values ($1, now())
    on conflict (owner_id) do update set since = waiting.since
    returning since < now() - interval '1 day' as overdue`;
  const [row] = await query<{ overdue: boolean }>(pg, text, [ownerId]);
  return row?.overdue === true;
}
