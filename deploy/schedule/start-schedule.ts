import { schedule, type Logger as CronLogger, type ScheduledTask } from "node-cron";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Postgres } from "../../api/stores/query.js";
import { readLastDue, runOnce } from "../../api/stores/scheduled-runs.js";
import { missedTime } from "./missed-time.js";

/** Work that is due at certain times, in one of all processes. */
export interface ScheduledJob {
  /** The same in every process, and a label of its metric. */
  name: string;
  /** A cron expression, in UTC. */
  schedule: string;
  /** Whether a time that passed while nothing ran is made up for at the start. */
  catchesUp?: boolean;
  /** Answers what it did, for the log. One that takes long throws when it is told to end before. */
  run: (pg: Postgres, signal: AbortSignal) => Promise<object>;
}

export const RUN_OUTCOMES = ["done", "elsewhere", "failed"] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export interface ScheduleDependencies {
  pg: Pool;
  log: Logger;
  onRun: (job: string, outcome: RunOutcome) => void;
}

/** Runs the jobs at their times until disposed of, which waits for those that are under way here. */
export function startSchedule(
  jobs: readonly ScheduledJob[],
  dependencies: ScheduleDependencies,
): AsyncDisposable {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const keep = async (running: Promise<void>) => {
    underWay.add(running);
    await running.finally(() => underWay.delete(running));
  };
  const surroundings = { ...dependencies, signal: stopping.signal };
  const tasks = jobs.map((job) => {
    const task = schedule(
      job.schedule,
      ({ date }) => keep(runJob(job, { ...surroundings, dueAt: wholeSecond(date) })),
      { name: job.name, timezone: "UTC", noOverlap: true, logger: cronLogger(dependencies.log) },
    );
    if (job.catchesUp) void keep(catchUp(job, task, surroundings));
    return task;
  });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      for (const task of tasks) await task.destroy();
      await Promise.all(underWay);
    },
  };
}

/** What node-cron has to say, such as that a time was missed, goes where everything else goes. */
function cronLogger(log: Logger): CronLogger {
  return {
    info: (message) => log.debug(message),
    warn: (message) => log.warn(message),
    error: (message, error) => log.error({ err: error ?? message }, "a schedule failed"),
    debug: (message) => log.trace(String(message)),
  };
}

interface Surroundings extends ScheduleDependencies {
  signal: AbortSignal;
}

/** Never rejects. A job that was never done has missed nothing. */
async function catchUp(job: ScheduledJob, task: ScheduledTask, surroundings: Surroundings): Promise<void> {
  try {
    const after = await readLastDue(surroundings.pg, job.name);
    const dueAt = after && missedTime(task, { after, now: new Date() });
    if (dueAt !== undefined) await runJob(job, { ...surroundings, dueAt });
  } catch (error) {
    surroundings.log.error({ err: error, job: job.name }, "whether a scheduled job was missed is not known");
  }
}

interface JobRun extends Surroundings {
  dueAt: Date;
}

/** Never rejects: a job that failed is tried again by another process, or at its next time. */
async function runJob({ name, run }: ScheduledJob, { pg, log, onRun, dueAt, signal }: JobRun): Promise<void> {
  try {
    let did: object = {};
    const where = await runOnce(
      pg,
      { job: name, dueAt },
      { signal, work: async (client) => void (did = await run(client, signal)) },
    );
    if (where === "here") log.info({ job: name, ...did }, "a scheduled job is done");
    if (where !== "stopped") onRun(name, where === "here" ? "done" : "elsewhere");
  } catch (error) {
    if (signal.aborted) return log.info({ job: name }, "a scheduled job was ended before it was done");
    log.error({ err: error, job: name }, "a scheduled job failed");
    onRun(name, "failed");
  }
}

/** A time is told by its second: clocks differ in what comes after it. */
function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
