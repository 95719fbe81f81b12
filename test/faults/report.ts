import { PROGRAM_KILLS, STORE_FAULTS } from "./fault-catalog.js";
import type { SeedReport } from "./run-seed.js";

export interface Totals {
  lost: number;
  doubled: number;
  mismatched: number;
  miscounted: number;
  stuck: number;
}

export function totalsOf(reports: readonly SeedReport[]): Totals {
  const total = (name: keyof Totals) => reports.reduce((sum, report) => sum + report[name], 0);
  return {
    lost: total("lost"),
    doubled: total("doubled"),
    mismatched: total("mismatched"),
    miscounted: total("miscounted"),
    stuck: total("stuck"),
  };
}

/** One line for a seed, and one more for each thing that is wrong. */
export function seedText({ seed, faults, events, durationMs, details, ...verdict }: SeedReport): string {
  const wrong = Object.values(totalsOf([{ seed, faults, events, durationMs, details, ...verdict }]));
  const state = wrong.every((count) => count === 0) ? "ok" : "WRONG";
  const what = faults.map(({ action, point }) => `${action} at ${point}`).join(", ") || "nothing struck";
  const line = `seed ${seed}: ${state}, ${events} lines in ${(durationMs / 1000).toFixed(1)} s; ${what}`;
  return [line, ...details.map((detail) => `  ${detail}`)].join("\n");
}

/** How often each kind of fault struck, and what was wrong in all. */
export function runText(reports: readonly SeedReport[]): string {
  const struck = reports.flatMap(({ faults }) => faults);
  const kinds = [...PROGRAM_KILLS, ...STORE_FAULTS].map(({ point, action }) => {
    const count = struck.filter((fault) => fault.point === point && fault.action === action).length;
    return `${String(count).padStart(6)}  ${action} at ${point}`;
  });
  const events = reports.reduce((sum, report) => sum + report.events, 0);
  const { lost, doubled, mismatched, miscounted, stuck } = totalsOf(reports);
  return [
    "faults that struck:",
    ...kinds,
    `${reports.length} seeds, ${events} lines, ${struck.length} faults: ${lost} lost, ${doubled} doubled, ` +
      `${mismatched} mismatched breakdowns, ${miscounted} miscounted imports, ${stuck} stuck`,
  ].join("\n");
}
