import { numbered } from "../../schemas/records/numbered.js";
import { Command } from "commander";
import { countDeadLetters } from "../../api/features/imports/dead-letters.js";
import { type UnsettledWork, readUnsettledWork } from "../../api/features/imports/import-record.js";
import { pause } from "../../schemas/async/pause.js";
import { ENRICH_GROUP } from "../../schemas/records/event-log.js";
import { type AdminProcess, type Administer, type Administered, openAdminLog } from "./administer.js";
import { wholeNumber } from "./whole-number.js";

const TIMEOUT_SECONDS = 600;

/** `admin drain`: waits for enrichment and settlement, before work on ClickHouse that forgets which inserts it has had. */
export function drainCommand(administer: Administer, { note }: Pick<AdminProcess, "note">): Command {
  return new Command("drain")
    .description("Wait until all acknowledged lines are in ClickHouse and settled.")
    .option("--timeout <seconds>", "exit with status 1 after this many seconds", wholeNumber, TIMEOUT_SECONDS)
    .addHelpText(
      "after",
      "\nFirst stop all processes with the role `api` or `collect`; keep `enrich` and `jobs` running.\nThe " +
        "command changes nothing. It reports its progress on standard error.",
    )
    .action(({ timeout }: { timeout: number }) =>
      administer((deps) => drain(deps, { timeoutMs: timeout * 1_000, note })),
    );
}

async function drain(
  { pg, logSource, apiUrl }: Administered,
  options: { timeoutMs: number; note: (line: string) => void },
): Promise<string[]> {
  await using log = await openAdminLog(logSource);
  const read = async (): Promise<Undrained> => {
    // The log first: what is appended after it belongs to an import that is not done, or comes in the next look.
    const records = await log.lag(ENRICH_GROUP);
    const appended = (await log.ends()).reduce((sum, end) => sum + end, 0);
    return { records, appended, ...(await readUnsettledWork(pg)) };
  };
  if ("dir" in logSource && apiUrl === undefined) requireDrained(await read());
  else await waitUntilDrained(read, options);
  return ["All acknowledged lines are in ClickHouse and settled.", ...(await deadLetterLines(pg))];
}

/** An embedded log is read by the service on its directory alone. */
function requireDrained(state: Undrained): void {
  const left = leftOf(state);
  if (left !== "")
    throw new Error(`${left}${namesOf(state)}, but the service is not running on this DATA_DIR. Start it.`);
}

async function deadLetterLines(pg: Administered["pg"]): Promise<string[]> {
  const letters = await countDeadLetters(pg);
  if (letters === 0) return [];
  return [`Lines of dead letters (${letters}) are not included. See: admin dead-letters list`];
}

/** The work that is left for the lines that were acknowledged, at one moment. */
export interface Undrained extends UnsettledWork {
  /** Records of the event log that are not in ClickHouse. */
  records: number;
  /** Records that were ever appended to the event log. */
  appended: number;
}

interface DrainOptions {
  timeoutMs: number;
  note: (line: string) => void;
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
function leftOf({ records, imports, batches }: Undrained): string {
  const parts = [
    {
      count: records,
      one: "record is waiting in the event log",
      many: "records are waiting in the event log",
    },
    { count: imports.length, one: "import is not done", many: "imports are not done" },
    {
      count: batches,
      one: "settlement batch is not applied",
      many: "settlement batches are not applied",
    },
  ];
  const left = parts.filter(({ count }) => count > 0);
  return left.map(({ count, one, many }) => numbered(count, one, many)).join(", ");
}

function namesOf({ imports }: Undrained): string {
  if (imports.length === 0) return "";
  const rest = imports.length - NAMED_MAX;
  return ` (${imports.slice(0, NAMED_MAX).join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
}

function progressOf(state: Undrained, came: number): string {
  const left = leftOf(state) || "Nothing is left; checking for new records";
  return came > 0 ? `${left}. ${numbered(came, "new record")} arrived: ${STILL_TAKING}` : `${left}.`;
}

const STILL_TAKING = "a process with the role api or collect still accepts requests.";

function refusal(state: Undrained, { timeoutMs, came }: { timeoutMs: number; came: number }): string {
  const left = leftOf(state) || "nothing is left, but records still arrive";
  const still = came > 0 ? " Stop all processes with the role api or collect first." : "";
  return `After ${Math.round(timeoutMs / 1000)} s, ${left}${namesOf(state)}.${still}`;
}
