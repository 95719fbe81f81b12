import type { FunnelFaults } from "./check-funnel-seed.js";
import { COMPUTING, DELIVERING } from "./plan-funnel-seed.js";
import { nameOf } from "../imports/report.js";
import type { FunnelSeedReport } from "./run-funnel-seed.js";

const FAULTS = [
  ...(["missing", "twice", "unheardOf", "unstable", "unsigned", "malformed"] as const),
  ...(["misplaced", "stuck"] as const),
];

export function funnelTotalsOf(reports: readonly FunnelSeedReport[]): FunnelFaults {
  const total = (fault: keyof FunnelFaults) => reports.reduce((sum, report) => sum + report[fault], 0);
  return Object.fromEntries(FAULTS.map((fault) => [fault, total(fault)])) as Record<
    keyof FunnelFaults,
    number
  >;
}

/** Whether everything that changed was announced once. */
export function isWrong(reports: readonly FunnelSeedReport[]): boolean {
  const announced = reports.every((report) => report.changes > 0 && report.changes === report.announced);
  return !announced || Object.values(funnelTotalsOf(reports)).some((count) => count > 0);
}

/** One line for a seed, and one more for each thing that is wrong. */
export function funnelSeedText(report: FunnelSeedReport): string {
  const { seed, faults, killsAnywhere, durationMs, details } = report;
  const struck = [...faults.map(nameOf), ...Array<string>(killsAnywhere).fill(ANYWHERE)];
  const line =
    `seed ${seed}: ${isWrong([report]) ? "WRONG" : "ok"}, ${countsText([report])} in ` +
    `${(durationMs / 1000).toFixed(1)} s; ${struck.join(", ") || "nothing struck"}`;
  return [line, ...details.map((detail) => `  ${detail}`)].join("\n");
}

const ANYWHERE = "kill program anywhere";

/** How often it was killed where, and what was wrong in all. */
export function funnelRunText(reports: readonly FunnelSeedReport[]): string {
  const kinds = new Map([...[...COMPUTING, ...DELIVERING].map(nameOf), ANYWHERE].map((name) => [name, 0]));
  const strike = (name: string, times: number) => kinds.set(name, (kinds.get(name) ?? 0) + times);
  for (const { faults, killsAnywhere } of reports) {
    for (const fault of faults) strike(nameOf(fault), 1);
    strike(ANYWHERE, killsAnywhere);
  }
  const kills = [...kinds.values()].reduce((sum, count) => sum + count, 0);
  const wrong = Object.entries(funnelTotalsOf(reports)).map(([fault, count]) => `${count} ${WORDS[fault]}`);
  return [
    "kills that struck:",
    ...[...kinds].map(([name, count]) => `${String(count).padStart(6)}  ${name}`),
    `${reports.length} seeds, ${kills} kills, ${countsText(reports)}: ${wrong.join(", ")}`,
  ].join("\n");
}

const WORDS: Record<string, string> = {
  ...{ missing: "missing", twice: "announced twice", unheardOf: "announced and not kept" },
  ...{ unstable: "ids with other bytes", unsigned: "not signed", malformed: "malformed" },
  ...{ misplaced: "misplaced", stuck: "stuck" },
};

function countsText(reports: readonly FunnelSeedReport[]): string {
  const sum = (of: "changes" | "announced" | "events" | "arrivals" | "repeated") =>
    reports.reduce((all, report) => all + report[of], 0);
  return (
    `${sum("changes")} changes, ${sum("announced")} announced in ${sum("events")} events, ` +
    `${sum("arrivals")} arrivals (${sum("repeated")} again)`
  );
}
