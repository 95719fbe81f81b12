import { Command } from "commander";
import { countDeadLetters } from "../../../api/imports/dead-letters.js";
import { readUnsettledWork } from "../../../api/imports/import-record.js";
import { ENRICH_GROUP } from "../../../schemas/records/event-log.js";
import type { Administer, Administered } from "../administer.js";
import type { AdminProcess } from "../admin-process.js";
import { openAdminLog } from "../open-admin-log.js";
import { leftOf, namesOf, waitUntilDrained, type Undrained } from "./wait-until-drained.js";
import { wholeNumber } from "../whole-number.js";

const TIMEOUT_SECONDS = 600;

/** `admin drain`: waits for enrichment and settlement, before work on ClickHouse that forgets which inserts it has had. */
export function drainCommand(administer: Administer, { note }: Pick<AdminProcess, "note">): Command {
  return new Command("drain")
    .description("Wait until every line that was acknowledged is in ClickHouse and settled.")
    .option("--timeout <seconds>", "when to give up, with status 1", wholeNumber, TIMEOUT_SECONDS)
    .addHelpText(
      "after",
      "\nStop every process with the role `api` or `collect` first, and let `enrich` and `jobs` run." +
        "\nIt changes nothing, and says on standard error how much is left.",
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
    const [records, appended] = [await log.lag(ENRICH_GROUP), await log.appended()];
    return { records, appended, ...(await readUnsettledWork(pg)) };
  };
  if ("dir" in logSource && apiUrl === undefined) requireDrained(await read());
  else await waitUntilDrained(read, options);
  return ["Every line that was acknowledged is in ClickHouse and settled.", ...(await deadLetterLines(pg))];
}

/** An embedded log is read by the service on its directory alone. */
function requireDrained(state: Undrained): void {
  const left = leftOf(state);
  if (left !== "")
    throw new Error(`${left}${namesOf(state)}, and no service runs on this DATA_DIR: start it.`);
}

async function deadLetterLines(pg: Administered["pg"]): Promise<string[]> {
  const letters = await countDeadLetters(pg);
  if (letters === 0) return [];
  return [`Not counted: the lines of dead letters (${letters}); see: admin dead-letters list`];
}
