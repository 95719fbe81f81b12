import type { FaultCatalog, FaultKind } from "../plans/fault-catalog.js";
import { isOfServers } from "../plans/plan-seed.js";
import type { SeedReport } from "./run-seed.js";

export interface Totals {
  lost: number;
  doubled: number;
  mismatched: number;
  miscounted: number;
  stuck: number;
}

export const NOTHING_WRONG: Totals = { lost: 0, doubled: 0, mismatched: 0, miscounted: 0, stuck: 0 };

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
export function seedText(report: SeedReport): string {
  const { seed, faults, events, durationMs, refused, details } = report;
  const wrong = Object.values(totalsOf([report]));
  const state = wrong.every((count) => count === 0) ? "ok" : "WRONG";
  const what = faults.map(nameOf).join(", ") || "nothing struck";
  const line =
    `seed ${seed}: ${state}, ${events} lines in ${(durationMs / 1000).toFixed(1)} s; ${what}` +
    (refused > 0 ? `; ${refused} starts refused with 503` : "");
  return [line, ...details.map((detail) => `  ${detail}`)].join("\n");
}

/** How often each kind of fault struck, and what was wrong in all. */
export function runText(reports: readonly SeedReport[], { turns }: FaultCatalog): string {
  const struck = reports.flatMap(({ faults }) => faults);
  const kinds = new Map(turns.flat().map((kind) => [nameOf(kind), 0]));
  for (const fault of struck) kinds.set(nameOf(fault), (kinds.get(nameOf(fault)) ?? 0) + 1);
  const sum = (name: "events" | "refused") => reports.reduce((all, report) => all + report[name], 0);
  const { lost, doubled, mismatched, miscounted, stuck } = totalsOf(reports);
  return [
    "faults that struck:",
    ...[...kinds].map(([name, count]) => `${String(count).padStart(6)}  ${name}`),
    `${reports.length} seeds, ${sum("events")} lines, ${struck.length} faults, ${sum("refused")} starts refused with 503: ${lost} lost, ${doubled} doubled, ` +
      `${mismatched} mismatched breakdowns, ${miscounted} miscounted imports, ${stuck} stuck`,
  ].join("\n");
}

/** A minute without a broker is another thing than its restart, and so with a server. */
export function nameOf(kind: FaultKind): string {
  const { action, point, delayMsMin, delayMsMax } = kind;
  const name = `${action} at ${point}`;
  if ((action !== "kill broker" && !isOfServers(kind)) || delayMsMax === 0) return name;
  const range = delayMsMin === undefined ? "up to " : "";
  return `${name}, unavailable for ${range}${delayMsMax / 1000} s`;
}
