import type { TestProject } from "vitest/node";
import { offerPrograms } from "../program/offer-program.js";
import { findGivenServers } from "./given-servers.js";

/** The same as `offer-program.ts`, on the given servers. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = findGivenServers();
  if ("missing" in servers) throw new Error(servers.missing);
  return (await offerPrograms({ servers }))(project);
}
