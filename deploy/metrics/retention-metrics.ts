import { Counter, Gauge, type Registry } from "prom-client";
import { REMOVED_KINDS, type CleanUpDependencies } from "../schedule/scheduled-jobs.js";

/** Metrics of what is removed because it was kept for long enough. */
export function createRetentionMetrics(registry: Registry): Pick<CleanUpDependencies, "onRemoved"> {
  const registers = [registry];
  const labelNames = ["kind"];
  const rows = new Counter({
    name: "retention_removed_rows_total",
    help: "Rows that this process removed because they were kept for long enough, by kind",
    labelNames,
    registers,
  });
  const bytes = new Counter({
    name: "retention_removed_bytes_total",
    help: "Bytes of these rows: of events as stored, of log entries and refused lines their texts",
    labelNames,
    registers,
  });
  const lastRun = new Gauge({
    name: "retention_last_run_timestamp_seconds",
    help: "When this process last looked for rows to remove, in seconds since 1970; 0 if it never did",
    labelNames,
    registers,
  });
  for (const kind of REMOVED_KINDS) {
    rows.inc({ kind }, 0);
    bytes.inc({ kind }, 0);
    lastRun.set({ kind }, 0);
  }
  return {
    onRemoved(kind, removed) {
      rows.inc({ kind }, removed.rows);
      bytes.inc({ kind }, removed.bytes);
      lastRun.setToCurrentTime({ kind });
    },
  };
}
