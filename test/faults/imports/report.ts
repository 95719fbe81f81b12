import type { FaultCatalog, FaultKind } from "../plans/fault-catalog.js";
import { isOfServers } from "../plans/plan-seed.js";
import type { SeedReport } from "./run-seed.js";

export const NOTHING_WRONG = { lost: 0, doubled: 0, mismatched: 0, miscounted: 0, stuck: 0 };

export function totalsOf(reports: readonly SeedReport[]): typeof NOTHING_WRONG {
  return sumsOf(reports, Object.keys(NOTHING_WRONG) as (keyof typeof NOTHING_WRONG)[]);
}

/** Sums of these fields over all reports. */
export function sumsOf<Name extends string>(
  reports: readonly Record<Name, number>[],
  names: readonly Name[],
): Record<Name, number> {
  const sum = (name: Name) => reports.reduce((all, report) => all + report[name], 0);
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Record<Name, number>;
}

/** A line for each kind of fault, with how often it struck; those of the plan first, also where none did. */
export function struckLines(planned: readonly string[], struck: readonly string[]): string[] {
  const count = (name: string) => struck.filter((each) => each === name).length;
  return [...new Set([...planned, ...struck])].map((name) => `${String(count(name)).padStart(6)}  ${name}`);
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
  const struck = reports.flatMap(({ faults }) => faults.map(nameOf));
  const { events, refused } = sumsOf(reports, ["events", "refused"]);
  const { lost, doubled, mismatched, miscounted, stuck } = totalsOf(reports);
  return [
    "faults that struck:",
    ...struckLines(turns.flat().map(nameOf), struck),
    `${reports.length} seeds, ${events} lines, ${struck.length} faults, ${refused} starts refused with 503: ${lost} lost, ${doubled} doubled, ` +
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
