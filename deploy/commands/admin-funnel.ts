import { numbered } from "../../schemas/records/numbered.js";
import { Command, InvalidArgumentError } from "commander";
import type { Pool } from "pg";
import type { FunnelOutcome } from "../../aggregate/funnel/run-funnel.js";
import { onConnection } from "../../api/base/postgres/connection.js";
import { readRunTime } from "../../api/features/companies/funnel-owners.js";
import { pastStore } from "../../api/features/companies/funnel-pasts.js";
import { findOwnerId, funnelStore, readLastRun } from "../../api/features/companies/funnel-runs.js";
import { isTime } from "../../schemas/formats.js";
import type { Administer, Administered } from "./administer.js";

export function funnelCommand(administer: Administer): Command {
  return new Command("funnel")
    .description("Update the funnel stages of companies.")
    .addCommand(runCommand(administer));
}

function runCommand(administer: Administer): Command {
  return new Command("run")
    .description("Update funnel stages now, like the scheduled run. Changes are stored and sent to webhooks.")
    .argument("[owner]", "user or organization (default: all)")
    .option(
      "--as-of <date>",
      "compute stages as of this date (the end of that day) or time, in ISO 8601. Stage changes are " +
        "stored with this time. Must not be in the future or before the owner's last run",
      parseTime,
    )
    .addHelpText(
      "after",
      "\nWith --as-of, later events are not counted until the next run. Owners that already had a later " +
        "run are\nskipped; if you name such an owner, the command fails. Stored history never " +
        "changes.\nOwners with running imports are skipped until the next run, for at most one day.",
    )
    .action((owner: string | undefined, { asOf }: { asOf?: Date }) =>
      administer(async (deps) => [sentenceOf(await run(deps, { owner, asOf }))]),
    );
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day means its last millisecond. */
function parseTime(text: string): Date {
  const whole = DAY.test(text) ? `${text}T23:59:59.999Z` : text;
  if (isTime(whole)) return new Date(whole);
  throw new InvalidArgumentError("Use a date (YYYY-MM-DD) or an ISO 8601 time with a time zone.");
}

async function run(
  { pg, openClickHouse }: Administered,
  { owner, asOf }: { owner: string | undefined; asOf: Date | undefined },
): Promise<FunnelOutcome> {
  const ownerId = owner === undefined ? undefined : await ownerNamed(pg, owner);
  const now = await readRunTime(pg);
  const time = asOf === undefined ? now : requirePast(asOf, now);
  if (ownerId !== undefined && asOf !== undefined) await requireLater(pg, { ownerId, asOf: time });
  const { runFunnel } = await import("../../aggregate/funnel/run-funnel.js");
  const shards = await openClickHouse();
  const { signal } = new AbortController();
  return onConnection(pg, (client) =>
    runFunnel(shards, {
      store: funnelStore(client, { ownerId }),
      pasts: pastStore(client, { ownerId }),
      asOf: time,
      signal,
    }),
  );
}

/** The end of today means now. */
function requirePast(asOf: Date, now: Date): Date {
  if (asOf <= now) return asOf;
  if (asOf.toISOString() === `${now.toISOString().slice(0, 10)}T23:59:59.999Z`) return now;
  throw new Error(
    `${asOf.toISOString()} is in the future. Choose a time in the past, because no other run is possible ` +
      "until then.",
  );
}

async function ownerNamed(pg: Pool, name: string): Promise<string> {
  const id = await findOwnerId(pg, name);
  if (id === undefined) throw new Error(`The user or organization ${name} does not exist.`);
  return id;
}

async function requireLater(pg: Pool, { ownerId, asOf }: { ownerId: string; asOf: Date }): Promise<void> {
  const last = await readLastRun(pg, ownerId);
  if (last === undefined || last <= asOf) return;
  throw new Error(
    `The stages of this owner were last computed as of ${last.toISOString()}. Choose a later time, ` +
      "because announced stages must not change.",
  );
}

function sentenceOf({ owners, companies, changes, leftAlone, importing }: FunnelOutcome): string {
  const computed = numbered(owners - leftAlone - importing, "owner", "owners");
  const results = `${numbered(companies, "company", "companies")} of ${computed}`;
  const changed = `${numbered(changes, "stage change", "stage changes")}`;
  const later =
    leftAlone === 0
      ? ""
      : ` ${numbered(leftAlone, "owner", "owners")} skipped because their last run is later.`;
  const waiting =
    importing === 0 ? "" : ` ${numbered(importing, "owner", "owners")} skipped because imports are running.`;
  return `${results}, ${changed}.${later}${waiting}`;
}
