import { type Logger as CronLogger, type ScheduledTask, parse, schedule } from "node-cron";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Postgres } from "../../api/base/postgres/query.js";
import { readLastDue, runOnce } from "../../api/base/postgres/scheduled-runs.js";

export interface ScheduledJob {
  /** The same in every process, and a label of its metric. */
  name: string;
  /** A cron expression, in UTC. */
  schedule: string;
  /** Whether the start makes up for a time that was missed while no process ran. */
  catchesUp?: boolean;
  /** Returns results for the log. A long job throws when the signal is aborted. */
  run: (pg: Postgres, signal: AbortSignal) => Promise<object>;
}

export const RUN_OUTCOMES = ["done", "elsewhere", "failed"] as const;
type RunOutcome = (typeof RUN_OUTCOMES)[number];

export interface ScheduleDependencies {
  pg: Pool;
  log: Logger;
  onRun: (job: string, outcome: RunOutcome) => void;
}

/** Runs the jobs at their times until disposed of, which waits for the running ones of this process. */
export function startSchedule(
  jobs: readonly ScheduledJob[],
  dependencies: ScheduleDependencies,
): AsyncDisposable {
  const stopping = new AbortController();
  const runningJobs = new Set<Promise<void>>();
  const track = async (job: Promise<void>) => {
    runningJobs.add(job);
    await job.finally(() => runningJobs.delete(job));
  };
  const context = { ...dependencies, signal: stopping.signal };
  const tasks = jobs.map((job) => {
    const task = schedule(
      job.schedule,
      ({ date }) => track(runJob(job, { ...context, dueAt: wholeSecond(date) })),
      { name: job.name, timezone: "UTC", noOverlap: true, logger: cronLogger(dependencies.log) },
    );
    logSkipped(task, dependencies.log);
    if (job.catchesUp) void track(catchUp(job, task, context));
    return task;
  });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      for (const task of tasks) await task.destroy();
      await Promise.all(runningJobs);
    },
  };
}

/** node-cron's own sentences are for its developers: `logSkipped` says what they warn of. */
export function cronLogger(log: Logger): CronLogger {
  return {
    info: () => undefined,
    warn: () => undefined,
    error: (message, error) => log.error({ err: error ?? message }, "the scheduler failed"),
    debug: () => undefined,
  };
}

export function logSkipped(task: Pick<ScheduledTask, "name" | "on">, log: Logger): void {
  const { name: job } = task;
  task.on("execution:missed", ({ date }) =>
    log.warn({ job, dueAt: date }, "a scheduled job was missed: the process was busy or suspended"),
  );
  task.on("execution:overlap", ({ date }) =>
    log.warn(
      { job, dueAt: date },
      "a scheduled job was skipped because its previous run is still in progress",
    ),
  );
}

interface ScheduleContext extends ScheduleDependencies {
  signal: AbortSignal;
}

/** Never rejects. A job that never ran has missed nothing. */
async function catchUp(job: ScheduledJob, task: ScheduledTask, context: ScheduleContext): Promise<void> {
  try {
    const after = await readLastDue(context.pg, job.name);
    const dueAt = after && missedTime(task, { after, now: new Date() });
    if (dueAt !== undefined) await runJob(job, { ...context, dueAt });
  } catch (error) {
    context.log.error({ err: error, job: job.name }, "could not check whether a scheduled job was missed");
  }
}

interface JobRun extends ScheduleContext {
  dueAt: Date;
}

/** Never rejects. Another process retries a failed job, or the next time of the schedule does. */
async function runJob({ name, run }: ScheduledJob, { pg, log, onRun, dueAt, signal }: JobRun): Promise<void> {
  try {
    let results: object = {};
    const where = await runOnce(
      pg,
      { job: name, dueAt },
      { signal, work: async (client) => void (results = await run(client, signal)) },
    );
    if (where === "here") log.info({ job: name, ...results }, "completed a scheduled job");
    if (where !== "stopped") onRun(name, where === "here" ? "done" : "elsewhere");
  } catch (error) {
    if (signal.aborted) return log.info({ job: name }, "a scheduled job was stopped before it finished");
    log.error({ err: error, job: name }, "a scheduled job failed");
    onRun(name, "failed");
  }
}

/** Whole seconds identify a time, because the clocks of processes differ in fractions. */
function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

/** Bounds the search, which takes 12 µs a minute. */
const MINUTES_MAX = 32 * 24 * 60;
const MINUTE_MS = 60_000;

/**
 * The latest time after `after` and up to `now`, in whole seconds; undefined without one in the last 32 days.
 * Finds only the first of several times in a minute.
 */
export function missedTime(
  task: Pick<ScheduledTask, "match" | "getPattern">,
  { after, now }: { after: Date; now: Date },
): Date | undefined {
  const [second = 0] = parse(task.getPattern()).second;
  const latest = Math.floor((now.getTime() - second * 1000) / MINUTE_MS) * MINUTE_MS + second * 1000;
  for (let minute = 0; minute < MINUTES_MAX; minute += 1) {
    const time = latest - minute * MINUTE_MS;
    if (time <= after.getTime()) return undefined;
    if (task.match(new Date(time))) return new Date(time);
  }
  return undefined;
}
