import type { UnsettledWork } from "../../../api/imports/import-record.js";
import { pause } from "../../../schemas/async/pause.js";

/** The work that is left for the lines that were acknowledged, at one moment. */
export interface Undrained extends UnsettledWork {
  /** Records of the event log that are not in ClickHouse. */
  records: number;
  /** Records that were ever appended to the event log. */
  appended: number;
}

export interface DrainOptions {
  /** When to give up. */
  timeoutMs: number;
  /** Takes a line on what is left, each time that it has changed. */
  note: (line: string) => void;
  /** How often to look. */
  everyMs?: number;
  /** How long nothing may have come: collectors keep live events in memory for moments. */
  quietMs?: number;
}

const NAMED_MAX = 5;

/** Resolves once nothing is left, and nothing has come for a while. Rejects with a sentence for the operator. */
export async function waitUntilDrained(
  read: () => Promise<Undrained>,
  { timeoutMs, note, everyMs = 1_000, quietMs = 6_000 }: DrainOptions,
): Promise<void> {
  const begun = performance.now();
  let quietSince = begun;
  let noted = "";
  for (let before = await read(), now = before; ; before = now, now = await read()) {
    const came = now.appended - before.appended;
    if (came > 0 || leftOf(now) !== "") quietSince = performance.now();
    if (performance.now() - quietSince >= quietMs) return;
    if (performance.now() - begun >= timeoutMs) throw new Error(refusal(now, { timeoutMs, came }));
    const line = progressOf(now, came);
    if (line !== noted) note(line);
    noted = line;
    await pause(everyMs);
  }
}

/** Empty where nothing is left. */
export function leftOf({ records, imports, batches }: Undrained): string {
  const parts = [
    countOf(records, ["record waits in the event log", "records wait in the event log"]),
    countOf(imports.length, ["import is not done", "imports are not done"]),
    countOf(batches, ["batch of settlement is not applied", "batches of settlement are not applied"]),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function countOf(count: number, [one, several]: readonly [string, string]): string {
  if (count === 0) return "";
  return `${count} ${count === 1 ? one : several}`;
}

/** The imports that are left, in parentheses. */
export function namesOf({ imports }: Undrained): string {
  if (imports.length === 0) return "";
  const rest = imports.length - NAMED_MAX;
  return ` (${imports.slice(0, NAMED_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
}

function progressOf(state: Undrained, came: number): string {
  const left = leftOf(state) || "Nothing is left; waiting whether more comes";
  return came > 0 ? `${left}. ${came} more came: ${STILL_TAKING}` : `${left}.`;
}

const STILL_TAKING = "a process with the role api or collect takes requests.";

function refusal(state: Undrained, { timeoutMs, came }: { timeoutMs: number; came: number }): string {
  const left = leftOf(state) || "nothing is left, but records still come";
  const still = came > 0 ? ` Stop every process with the role api or collect first.` : "";
  return `After ${Math.round(timeoutMs / 1000)} s ${left}${namesOf(state)}.${still}`;
}
