import type { ClickHouseClient } from "@clickhouse/client";
import { runFunnel } from "../../aggregate/funnel/run-funnel.js";
import { funnelStore, readRunTime } from "../../api/stores/funnel/funnel-runs.js";
import type { ScheduledJob } from "../schedule/start-schedule.js";

/** Places every company with every owner anew; see `runFunnel`. */
export function funnelJob({
  clickhouse,
  schedule,
}: {
  clickhouse: ClickHouseClient;
  schedule: string;
}): ScheduledJob {
  return {
    name: "funnel",
    schedule,
    catchesUp: true,
    run: async (pg, signal) =>
      runFunnel(clickhouse, { store: funnelStore(pg), asOf: await readRunTime(pg), signal }),
  };
}
