import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "../program/start-toolchain.js";
import { makeOrganization } from "./make-artifacts.js";
import { openRecount, type RecountBodies } from "./open-recount.js";

/** The program, an organization to import into, and the recount that its exports must equal. */
export interface ImportWorld {
  /** For the caller to close. */
  toolchain: Toolchain;
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

/** Makes an account, and an organization of its that may export; connects as the account. */
export async function makeExporter(toolchain: Toolchain, organization: string): Promise<ApiClient> {
  const api = await toolchain.newAccount("ada");
  await makeOrganization(api, organization);
  await toolchain.admin("grant-export", organization);
  return api;
}
