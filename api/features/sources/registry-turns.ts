import type { SourceKind } from "../../../schemas/contracts/source.js";
import { type Postgres, query } from "../../base/postgres/query.js";

/** A registry is left alone until then. */
export interface RegistryPause {
  until: Date;
  /** What it answered, as a sentence. */
  reason: string;
}

export interface TurnWanted {
  kind: SourceKind;
  /** Between two turns of all processes together. */
  intervalMs: number;
  waitMsMax: number;
}

/** Takes the next turn to ask a registry. Answers in how many milliseconds it is; undefined if that is too long. */
export async function takeRegistryTurn(
  pg: Postgres,
  { kind, intervalMs, waitMsMax }: TurnWanted,
): Promise<number | undefined> {
  const text = `
    with turn as (
      insert into registries as r (kind, next_turn_at) values ($1, clock_timestamp() + $2::float8 * ${MILLISECOND})
      on conflict (kind) do update
      set next_turn_at = greatest(r.next_turn_at, clock_timestamp()) + $2::float8 * ${MILLISECOND}
      where r.next_turn_at <= clock_timestamp() + $3::float8 * ${MILLISECOND} and not ${isPaused("r")}
      returning next_turn_at - $2::float8 * ${MILLISECOND} as at
    )
    select greatest(0, extract(epoch from at - clock_timestamp()) * 1000)::float8 as wait from turn`;
  const [row] = await query<{ wait: number }>(pg, text, [kind, intervalMs, waitMsMax]);
  return row?.wait;
}

const MILLISECOND = "interval '1 millisecond'";

/** SQL: whether nobody may ask this row of `registries` now. */
export const isPaused = (registry: string) => `coalesce(${registry}.paused_until > clock_timestamp(), false)`;

export async function readRegistryPause(pg: Postgres, kind: SourceKind): Promise<RegistryPause | undefined> {
  const text = `
    select paused_until as until, pause_reason as reason from registries r where kind = $1 and ${isPaused("r")}`;
  const [row] = await query<RegistryPause>(pg, text, [kind]);
  return row;
}

/** Nobody asks the registry for so long, unless it is paused for longer already. */
export async function pauseRegistry(
  pg: Postgres,
  { kind, durationMs, reason }: { kind: SourceKind; durationMs: number; reason: string },
): Promise<void> {
  const text = `
    insert into registries as r (kind, next_turn_at, paused_until, pause_reason)
    values ($1, clock_timestamp(), clock_timestamp() + $2::float8 * ${MILLISECOND}, $3)
    on conflict (kind) do update set paused_until = excluded.paused_until, pause_reason = excluded.pause_reason
    where r.paused_until is null or r.paused_until < excluded.paused_until`;
  await query(pg, text, [kind, durationMs, reason]);
}
