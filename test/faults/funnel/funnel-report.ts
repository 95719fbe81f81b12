import type { FunnelFaults } from "./check-funnel-seed.js";
import { funnelFaults, type FunnelAction } from "./plan-funnel-seed.js";
import { nameOf, struckLines, sumsOf } from "../imports/report.js";
import type { FunnelSeedReport } from "./run-funnel-seed.js";

const FAULTS = [
  ...(["missing", "twice", "unheardOf", "unstable", "unsigned", "malformed"] as const),
  ...(["misplaced", "stuck"] as const),
];

export function funnelTotalsOf(reports: readonly FunnelSeedReport[]): FunnelFaults {
  return sumsOf(reports, FAULTS);
}

/** Whether everything that changed was announced once. */
export function isWrong(reports: readonly FunnelSeedReport[]): boolean {
  const announced = reports.every((report) => report.changes > 0 && report.changes === report.announced);
  return !announced || Object.values(funnelTotalsOf(reports)).some((count) => count > 0);
}

/** One line for a seed, and one more for each thing that is wrong. */
export function funnelSeedText(report: FunnelSeedReport): string {
  const { seed, durationMs, details } = report;
  const struck = struckIn(report);
  const line =
    `seed ${seed}: ${isWrong([report]) ? "WRONG" : "ok"}, ${countsText([report])} in ` +
    `${(durationMs / 1000).toFixed(1)} s; ${struck.join(", ") || "nothing struck"}`;
  return [line, ...details.map((detail) => `  ${detail}`)].join("\n");
}

const ANYWHERE = "kill program anywhere";

function struckIn({ faults, killsAnywhere }: FunnelSeedReport): string[] {
  return [...faults.map(nameOf), ...Array<string>(killsAnywhere).fill(ANYWHERE)];
}

/** How often it was killed where, and what was wrong in all. */
export function funnelRunText(reports: readonly FunnelSeedReport[], action: FunnelAction): string {
  const struck = reports.flatMap(struckIn);
  const wrong = Object.entries(funnelTotalsOf(reports)).map(([fault, count]) => `${count} ${WORDS[fault]}`);
  return [
    "kills that struck:",
    ...struckLines([...funnelFaults(action).map(nameOf), ANYWHERE], struck),
    `${reports.length} seeds, ${struck.length} kills, ${countsText(reports)}: ${wrong.join(", ")}`,
  ].join("\n");
}

const WORDS: Record<string, string> = {
  ...{ missing: "missing", twice: "announced twice", unheardOf: "announced and not kept" },
  ...{ unstable: "ids with other bytes", unsigned: "not signed", malformed: "malformed" },
  ...{ misplaced: "misplaced", stuck: "stuck" },
};

function countsText(reports: readonly FunnelSeedReport[]): string {
  const sums = sumsOf(reports, ["changes", "announced", "events", "arrivals", "repeated"]);
  return (
    `${sums.changes} changes, ${sums.announced} announced in ${sums.events} events, ` +
    `${sums.arrivals} arrivals (${sums.repeated} again)`
  );
}
