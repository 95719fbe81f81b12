import { Counter, type Registry } from "prom-client";
import { SCHEDULED_JOBS } from "../schedule/scheduled-jobs.js";
import { RUN_OUTCOMES, type ScheduleDependencies, type ScheduledJob } from "../schedule/start-schedule.js";

/** What an operator watches of a process with the role `jobs`. */
export function createScheduleMetrics(
  registry: Registry,
  jobs: readonly Pick<ScheduledJob, "name">[] = SCHEDULED_JOBS,
): Pick<ScheduleDependencies, "onRun"> {
  const runs = new Counter({
    name: "scheduled_job_runs_total",
    help: "Times of scheduled jobs by what became of them here: done, done elsewhere, or failed",
    // Not `job`: that is what Prometheus calls what it scrapes.
    labelNames: ["name", "outcome"],
    registers: [registry],
  });
  for (const { name } of jobs) for (const outcome of RUN_OUTCOMES) runs.inc({ name, outcome }, 0);
  return { onRun: (name, outcome) => runs.inc({ name, outcome }) };
}
