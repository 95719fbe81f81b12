import { Counter, type Registry } from "prom-client";
import { RUN_OUTCOMES, type ScheduleDependencies, type ScheduledJob } from "../schedule/start-schedule.js";

/** Metrics of the schedule. */
export function createScheduleMetrics(
  registry: Registry,
  jobs: readonly Pick<ScheduledJob, "name">[],
): Pick<ScheduleDependencies, "onRun"> {
  const runs = new Counter({
    name: "scheduled_job_runs_total",
    help: "Due times of scheduled jobs by outcome in this process: done, done elsewhere, or failed",
    // Not `job`, which Prometheus sets to the scraped job.
    labelNames: ["name", "outcome"],
    registers: [registry],
  });
  for (const { name } of jobs) for (const outcome of RUN_OUTCOMES) runs.inc({ name, outcome }, 0);
  return { onRun: (name, outcome) => runs.inc({ name, outcome }) };
}
