import { afterAll, beforeAll } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { makeOrganization } from "../imports/make-artifacts.js";
import { type Program, type SharedName, sharedProgram } from "./program.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "./start-toolchain.js";

/** Of the suite that runs. */
export let toolchain: Toolchain;
/** That the suite joined. */
export let program: Program;
/** The account that owns what the suite makes. */
export let api: ApiClient;

interface Used extends ToolchainOptions {
  /** Of the account; they may export. */
  organizations?: readonly string[];
}

/** A program for the tests of a suite: started before the first, closed after the last. */
export function useToolchain({ organizations = [], ...options }: Used = {}): void {
  let own: Toolchain | undefined;
  beforeAll(async () => {
    toolchain = own = await startToolchain(options);
    api = await toolchain.newAccount("ada");
    for (const each of organizations) await makeExporting(each);
  });
  afterAll(() => own?.close());
}

interface Joined {
  /** Of the account; they may export. */
  organizations?: readonly string[];
  name?: SharedName;
}

/** An account of a suite, and organizations of it, in a program that files share. */
export function joinProgram(account: string, { organizations = [], name }: Joined = {}): void {
  beforeAll(async () => {
    program = await sharedProgram(name);
    api = await program.newAccount(account);
    for (const each of organizations) await makeExporting(each, program);
  });
}

/** An organization of the account that may export; its name. */
export async function makeExporting(organization: string, running: Program = toolchain): Promise<string> {
  await makeOrganization(api, organization);
  await running.admin("grant-export", organization);
  return organization;
}

/** Starts the program again, whose ports change. */
export async function restart(): Promise<void> {
  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
}
