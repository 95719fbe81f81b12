import { FAULT_POINTS, type FaultPoint } from "../../schemas/fault-point.js";

export type FaultAction = "kill program" | "kill clickhouse" | "kill postgres" | "fill disk" | "break view";

/** A way to go wrong: something dies where the program passes a point, or a view refuses what is inserted. */
export interface FaultKind {
  point: FaultPoint | "between-rows-and-views";
  action: FaultAction;
  /** How long after the point a store dies, or how long the disk is full, in milliseconds. */
  delayMsMax: number;
}

/** SIGKILL of the whole program, stores included, at every point. */
export const PROGRAM_KILLS: readonly FaultKind[] = FAULT_POINTS.map((point) => ({
  point,
  action: "kill program",
  delayMsMax: 0,
}));

const at = (action: FaultAction, delayMsMax: number, points: readonly FaultKind["point"][]): FaultKind[] =>
  points.map((point) => ({ point, action, delayMsMax }));

/** SIGKILL of one store, a disk that is full for a moment, and views that fail. */
export const STORE_FAULTS: readonly FaultKind[] = [
  // The delay is about as long as an insert or a settlement takes: the store dies somewhere in the middle of it.
  ...at("kill clickhouse", 150, ["before-insert", "settlement-staged", "settlement-found"]),
  ...at("kill clickhouse", 0, ["after-range", "after-insert", "settlement-applied"]),
  ...at("kill postgres", 0, ["before-upload-complete", "after-insert", "after-progress", "before-range"]),
  ...at("kill postgres", 0, ["settlement-found", "settlement-staged", "settlement-applied", "before-done"]),
  ...at("fill disk", 1_500, ["before-append", "before-range", "after-insert", "after-progress"]),
  ...at("break view", 0, ["between-rows-and-views"]),
];
