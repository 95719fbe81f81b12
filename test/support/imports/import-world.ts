import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { type Program, sharedProgram } from "../program/program.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "../program/start-toolchain.js";
import { makeOrganization } from "./make-artifacts.js";
import { loadLookupData } from "../../../enrich/lookups/load-lookup-data.js";
import { openLookups } from "../../../enrich/lookups/open-lookups.js";
import { ALL_PREPARED, smallLookups, type Prepared } from "../stores/prepared-stores.js";
import { type ReceivedBody, type Recount, recount } from "./recount.js";
import type { KnownArtifact } from "./recount-line.js";

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
  toolchain: Pick<Program, "admin" | "newAccount">,
  organization: string,
  username = "ada",
): Promise<ApiClient> {
  const api = await toolchain.newAccount(username);
  await makeOrganization(api, organization);
  await toolchain.admin("grant-export", organization);
  return api;
}

/** Counts bodies again, in the order in which they were received. */
export type RecountBodies = (bodies: readonly ReceivedBody[], artifacts: readonly KnownArtifact[]) => Recount;

/** With the tables of a program that is started the same way. */
export async function openRecount({
  prepared = ALL_PREPARED,
}: { prepared?: readonly Prepared[] } = {}): Promise<RecountBodies> {
  const { ASN_DB: asnDb, CITY_MMDB: cityMmdb } = smallLookups(prepared);
  const lookups = openLookups(await loadLookupData({ asnDb, cityMmdb }));
  return (bodies, artifacts) => recount(bodies, { artifacts, lookups, receivedAt: Date.now() });
}
