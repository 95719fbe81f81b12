import { Command, Option } from "commander";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { UserV1 } from "../../schemas/contracts/user.js";
import { type Service, callApi, readJson } from "../import/call-api.js";
import { type ServiceOptions, addServiceOptions, serviceOf } from "../import/service-options.js";
import { type Target, listPackages, nearTarget, parseTarget } from "../import/target.js";
import { StartFailure } from "../process/start-failure.js";

interface Options extends ServiceOptions {
  from: string;
  until: string;
  events?: true;
  format: string;
  output?: string;
}

const FORMATS = ["ndjson", "csv", "parquet", "arrow"];
const BINARY = ["parquet", "arrow"];

/** `export`: daily aggregates of an owner or a package, or the events of a package. */
export function exportCommand(): Command {
  const command = new Command("export")
    .argument("<owner[/package]>", "owner, or package of an owner: acme or acme/web")
    .requiredOption("--from <day>", "start of the range, such as 2026-11-01")
    .requiredOption("--until <day>", "end of the range, exclusive")
    .option(
      "--events",
      "export individual events of a package (at most 31 days) instead of daily aggregates (at most 366 days)",
    )
    .addOption(new Option("--format <format>", "format of the export").choices(FORMATS).default("ndjson"))
    .option("--output <file>", "file to write (default: standard output)");
  return addServiceOptions(command).action(run);
}

async function run(text: string, options: Options): Promise<void> {
  const { output, format } = options;
  if (output === undefined && BINARY.includes(format) && process.stdout.isTTY)
    throw new StartFailure(`${format} cannot be written to a terminal. Add --output FILE.`);
  const service = serviceOf(options);
  const target = parseTarget(text, "the argument");
  const answer = await nearTarget(service, target, async () =>
    callApi(service, await pathOf(service, target, options)),
  );
  const to = output === undefined ? process.stdout : createWriteStream(output);
  try {
    await pipeline(answer, to);
  } catch (error) {
    const where = output ?? "standard output";
    throw new StartFailure(`The export was interrupted, so ${where} is incomplete: ${String(error)}.`, {
      cause: error,
    });
  }
}

async function pathOf(service: Service, target: Target, options: Options): Promise<string> {
  const { from: startDate, until: endDate, format, events } = options;
  const query = new URLSearchParams({ startDate, endDate });
  if (events)
    return `/v1/packages/${await idOf(service, target)}/events/events.${format}?${query.toString()}`;
  if (target.packageName !== undefined) query.set("package", target.packageName);
  const { username } = await readJson<UserV1>(service, "/v1/user");
  const kind = username === target.owner ? "users" : "organizations";
  return `/v1/${kind}/${encodeURIComponent(target.owner)}/aggregates.${format}?${query.toString()}`;
}

/** A name may belong to packages of several owners. */
async function idOf(service: Service, { owner, packageName }: Target): Promise<string> {
  if (packageName === undefined) throw new StartFailure(`--events requires a package: ${owner}/PACKAGE.`);
  const found = (await listPackages(service)).filter(
    (each) => each.owner === owner && [each.name, each.uuid].includes(packageName),
  );
  // The service says that there is none.
  if (found.length < 2) return encodeURIComponent(found[0]?.uuid ?? packageName);
  throw new StartFailure(
    `${owner} has ${found.length} packages named ${packageName}. Use an id from packages --json.`,
  );
}
