import type { ApiClient } from "../../../deploy/demo/api-client.js";
import type { Program } from "../program/program.js";
import { sharedProgram } from "../program/shared-program.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "../program/start-toolchain.js";
import { makeOrganization } from "./make-artifacts.js";
import { openRecount, type RecountBodies } from "./open-recount.js";

/** A program, an organization to import into, and the recount that its exports must equal. */
export interface ImportWorld<Running extends Program = Toolchain> {
  /** For the caller to close, unless it is shared. */
  toolchain: Running;
  /** The account that owns the organization. */
  api: ApiClient;
  recountBodies: RecountBodies;
}

export async function openImportWorld(
  organization: string,
  options: ToolchainOptions = {},
): Promise<ImportWorld> {
  const [toolchain, recountBodies] = await Promise.all([startToolchain(options), openRecount()]);
  try {
    return { toolchain, api: await makeExporter(toolchain, organization), recountBodies };
  } catch (error) {
    await toolchain.close();
    throw error;
  }
}

/** The same in the program that files share: another organization, and account of its name, for each file. */
export async function joinImportWorld(organization: string): Promise<ImportWorld<Program>> {
  const [toolchain, recountBodies] = await Promise.all([sharedProgram(), openRecount()]);
  return {
    toolchain,
    api: await makeExporter(toolchain, organization, `${organization}-ada`),
    recountBodies,
  };
}

/** Makes an account, and an organization of its that may export; connects as the account. */
export async function makeExporter(
  toolchain: Program,
  organization: string,
  username = "ada",
): Promise<ApiClient> {
  const api = await toolchain.newAccount(username);
  await makeOrganization(api, organization);
  await toolchain.admin("grant-export", organization);
  return api;
}
