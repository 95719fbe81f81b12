import { Command } from "commander";
import { printRecord } from "../import/print-record.js";
import { type ServiceOptions, addServiceOptions, serviceOf } from "../import/service-options.js";
import { listPackages } from "../import/target.js";

/** `packages`: those that can be imported into and asked for. */
export function packagesCommand(): Command {
  return addServiceOptions(
    new Command("packages").argument("[owner]", "show only packages of this user or organization"),
  ).action(list);
}

async function list(owner: string | undefined, { json, ...options }: ServiceOptions): Promise<void> {
  const packages = await listPackages(serviceOf(options));
  for (const each of packages.filter((found) => owner === undefined || found.owner === owner))
    printRecord(
      each,
      json,
      ({ owner: whose, name, libraryType = "other" }) => `${whose}/${name}  ${libraryType}`,
    );
}
