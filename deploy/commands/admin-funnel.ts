import { Command, InvalidArgumentError } from "commander";
import type { Pool } from "pg";
import type { FunnelOutcome } from "../../aggregate/funnel/run-funnel.js";
import { onConnection } from "../../api/stores/connection.js";
import { findOwnerId, funnelStore, readLastRun, readRunTime } from "../../api/stores/funnel/funnel-runs.js";
import { isTime } from "../../schemas/formats.js";
import type { Administer, Administered } from "./administer.js";

/** `admin funnel ...`: companies and their stages of adoption, out of turn. */
export function funnelCommand(administer: Administer): Command {
  return new Command("funnel")
    .description("Companies and their stages of adoption.")
    .addCommand(runCommand(administer));
}

function runCommand(administer: Administer): Command {
  return new Command("run")
    .description("Place companies anew now, as the schedule does; what changes is kept and announced.")
    .argument("[owner]", "a user or an organization; all of them when none is named")
    .option(
      "--as-of <date>",
      "compute as if it were the end of that day, or that time (ISO 8601), and keep it as the time of the changes; " +
        "neither to come nor before the owner's last run",
      parseTime,
    )
    .addHelpText(
      "after",
      "\nWith --as-of, later events do not count, and the next run counts them again. Owners who were looked at as of a" +
        "\nlater time are left alone; naming such an owner is refused. History that was kept is never rewritten." +
        "\nOwners with imports under way wait for the next run, for a day at the longest.",
    )
    .action((owner: string | undefined, { asOf }: { asOf?: Date }) =>
      administer(async (deps) => [sentenceOf(await run(deps, { owner, asOf }))]),
    );
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day stands for its last moment. */
function parseTime(text: string): Date {
  const whole = DAY.test(text) ? `${text}T23:59:59.999Z` : text;
  if (isTime(whole)) return new Date(whole);
  throw new InvalidArgumentError("Give a date as YYYY-MM-DD, or a time with its zone as ISO 8601 has it.");
}

async function run(
  { pg, openClickHouse }: Administered,
  { owner, asOf }: { owner: string | undefined; asOf: Date | undefined },
): Promise<FunnelOutcome> {
  const ownerId = owner === undefined ? undefined : await ownerNamed(pg, owner);
  const now = await readRunTime(pg);
  const time = asOf === undefined ? now : passed(asOf, now);
  if (ownerId !== undefined && asOf !== undefined) await refuseEarlier(pg, { ownerId, asOf: time });
  const { runFunnel } = await import("../../aggregate/funnel/run-funnel.js");
  const clickhouse = await openClickHouse();
  const { signal } = new AbortController();
  return onConnection(pg, (client) =>
    runFunnel(clickhouse, { store: funnelStore(client, { ownerId }), asOf: time, signal }),
  );
}

/** Today ends now. */
function passed(asOf: Date, now: Date): Date {
  if (asOf <= now) return asOf;
  if (asOf.toISOString() === `${now.toISOString().slice(0, 10)}T23:59:59.999Z`) return now;
  throw new Error(
    `${asOf.toISOString()} is still to come: a run with it would keep all others out until then.`,
  );
}

async function ownerNamed(pg: Pool, name: string): Promise<string> {
  const id = await findOwnerId(pg, name);
  if (id === undefined) throw new Error(`There is no user or organization ${name}.`);
  return id;
}

async function refuseEarlier(pg: Pool, { ownerId, asOf }: { ownerId: string; asOf: Date }): Promise<void> {
  const last = await readLastRun(pg, ownerId);
  if (last === undefined || last <= asOf) return;
  throw new Error(
    `The last run of this owner was as of ${last.toISOString()}: an earlier one would rewrite what was announced.`,
  );
}

function sentenceOf({ owners, companies, changes, leftAlone, importing }: FunnelOutcome): string {
  const placed = countOf(owners - leftAlone - importing, "owner", "owners");
  const looked = `${countOf(companies, "company", "companies")} of ${placed}`;
  const changed = `${countOf(changes, "change", "changes")} of stage`;
  const left =
    leftAlone === 0 ? "" : ` ${countOf(leftAlone, "owner", "owners")} left alone: their last run is later.`;
  const waiting =
    importing === 0 ? "" : ` ${countOf(importing, "owner", "owners")} left for later: imports run.`;
  return `${looked}, ${changed}.${left}${waiting}`;
}

function countOf(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}
