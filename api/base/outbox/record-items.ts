import { type Postgres, query } from "../postgres/query.js";
import type { Claimed, Queue } from "./claim-items.js";

/** Outcomes lock targets before items, in the order of ids, as a change of a target does: no two transactions deadlock. */
export async function lockTargets(
  client: Postgres,
  { targets }: Queue,
  ids: readonly string[],
): Promise<void> {
  await query(client, `select from ${targets} where id = any ($1::uuid[]) order by id for no key update`, [
    ids,
  ]);
}

export interface ItemOutcome {
  item: Pick<Claimed, "id" | "claim">;
  /** `pending`, `failed`, `cancelled`, or the state of an item that arrived. */
  state: string;
  /** The outcome counts as an attempt. */
  isAttempt: boolean;
  error?: string | undefined;
  /** Until the next attempt. */
  delayMs?: number | undefined;
}

/** An outcome counts only while no other claim has replaced this one. A cancelled item stays cancelled unless it arrived. */
export async function recordItems(
  client: Postgres,
  queue: Queue,
  { outcomes, now }: { outcomes: readonly ItemOutcome[]; now?: Date | undefined },
): Promise<void> {
  const rows = outcomes.map(({ item: { id, claim }, state, isAttempt, error, delayMs }) => ({
    ...{ id, claim, state, error },
    is_attempt: isAttempt,
    delay_ms: delayMs,
  }));
  await query(client, recordText(queue), [
    JSON.stringify(rows),
    now ?? null,
    queue.arrived,
    queue.acceptsLate,
  ]);
}

const recordText = ({ items, error }: Queue) => `
  update ${items} d set
    attempts = d.attempts + o.is_attempt::int,
    claim = null,
    state = case when d.state = 'pending' or o.state = $3 then o.state else d.state end,
    next_attempt_at = clock.now + coalesce(o.delay_ms, 0) * interval '1 millisecond',
    ${error === undefined ? "" : `${error} = o.error,`}
    ended_at = case when o.state = 'pending' then d.ended_at else clock.now end
  from jsonb_to_recordset($1::jsonb) as o (
      id uuid, claim uuid, state text, is_attempt boolean, error text, delay_ms float8
    ), (select coalesce($2::timestamptz, clock_timestamp()) as now) clock
  where d.id = o.id and d.state <> $3 and (d.claim = o.claim or ($4 and o.state = $3))`;
