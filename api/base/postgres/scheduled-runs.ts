import type { Pool } from "pg";
import { pause } from "../../../schemas/async/pause.js";
import { onConnection } from "./connection.js";
import { type Postgres, query } from "./query.js";

/** One due time of a scheduled job, equal in all processes. */
export interface ScheduledRun {
  job: string;
  dueAt: Date;
}

export interface RunOnce {
  /** Receives the connection that holds the lock, so that a run that loses it can write nothing more. */
  work: (pg: Postgres) => Promise<void>;
  /** Ends the wait, never the work. */
  signal: AbortSignal;
  /** How often a waiting process tries again. */
  pollMs?: number;
}

/**
 * Does the work of one due time in exactly one of the calling processes, under a PostgreSQL advisory lock. The others
 * wait until it is done. If the process fails or dies, the lock is released and another does the work.
 * @returns where it was done; "stopped" if the signal came first
 */
export async function runOnce(
  pg: Pool,
  run: ScheduledRun,
  { work, signal, pollMs = 1_000 }: RunOnce,
): Promise<"here" | "elsewhere" | "stopped"> {
  while (!signal.aborted) {
    const outcome = await tryToRun(pg, run, work);
    if (outcome !== "busy") return outcome;
    await pause(pollMs, { signal });
  }
  return "stopped";
}

/** The last due time of the job that was done. */
export async function readLastDue(pg: Postgres, job: string): Promise<Date | undefined> {
  const text = `select due_at as "dueAt" from scheduled_runs where job = $1`;
  const [row] = await query<{ dueAt: Date }>(pg, text, [job]);
  return row?.dueAt;
}

function tryToRun(
  pg: Pool,
  run: ScheduledRun,
  work: RunOnce["work"],
): Promise<"here" | "elsewhere" | "busy"> {
  return onConnection(pg, async (client) => {
    const [lock] = await query<{ held: boolean }>(
      client,
      `select pg_try_advisory_lock(${LOCK_KEY}) as held`,
      [run.job],
    );
    if (!lock?.held) return "busy";
    const isDone = await readDone(client, run);
    if (!isDone) {
      await work(client);
      await putDone(client, run);
    }
    await query(client, `select pg_advisory_unlock(${LOCK_KEY})`, [run.job]);
    return isDone ? "elsewhere" : "here";
  });
}

const LOCK_KEY = "hashtextextended('scheduled job ' || $1::text, 0)";

async function readDone(pg: Postgres, { job, dueAt }: ScheduledRun): Promise<boolean> {
  const text = "select 1 from scheduled_runs where job = $1 and due_at >= $2";
  return (await query(pg, text, [job, dueAt])).length > 0;
}

async function putDone(pg: Postgres, { job, dueAt }: ScheduledRun): Promise<void> {
  const text = `
    insert into scheduled_runs (job, due_at, done_at) values ($1, $2, now())
    on conflict (job) do update set due_at = excluded.due_at, done_at = excluded.done_at`;
  await query(pg, text, [job, dueAt]);
}
