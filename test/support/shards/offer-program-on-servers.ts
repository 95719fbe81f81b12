import type { TestProject } from "vitest/node";
import { offerProgram } from "../program/offer-program.js";
import { startToolchain } from "../program/start-toolchain.js";
import { findGivenServers } from "./given-servers.js";

/** The same as `offer-program.ts`, on the given servers. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = findGivenServers();
  if ("missing" in servers) throw new Error(servers.missing);
  const { url, close } = await offerProgram(() => startToolchain({ servers }));
  project.provide("sharedProgram", url);
  return close;
}
