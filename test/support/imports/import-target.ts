import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { type EventMix, generateBody } from "../../../deploy/demo/generate-events.js";
import type { AggregateV1 } from "../../../schemas/contracts/aggregate.js";
import type { LibraryType } from "../../../schemas/records/artifact.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { readUntil } from "./import-outcome.js";
import { openRecount } from "./import-world.js";
import { makePackage } from "./make-artifacts.js";
import type { Recount } from "./recount.js";
import type { KnownArtifact } from "./recount-line.js";
import type { Prepared } from "../stores/prepared-stores.js";

/** In which all generated events are. */
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const MIX = { seed: 7, clients: 500, overrideShare: 0.3, from: "2025-03-10", days: 20 };

/** A package to import generated lines into, and what its exports must then be. */
export interface ImportTarget {
  readonly artifact: KnownArtifact;
  /** Of an import into it. */
  readonly path: string;
  bodyOf(mix: Partial<EventMix> & { count: number }): Buffer;
  /** Sends a body, and waits until it is imported. */
  send(api: ApiClient, body: Buffer): Promise<EventImport>;
  /** Counts bodies again, in the order in which they were received. */
  recount(...bodies: Buffer[]): Recount;
  /** What the exports have of it now. */
  readExports(api: ApiClient): Promise<AggregateV1[]>;
  /** Waits until the exports have these bodies, and nothing else. */
  expectExports(api: ApiClient, ...bodies: Buffer[]): Promise<void>;
}

export async function makeTarget(
  api: ApiClient,
  made: { organization: string; name?: string; libraryType?: LibraryType; prepared?: readonly Prepared[] },
): Promise<ImportTarget> {
  const { organization, name = "files", libraryType = "other", ...tables } = made;
  const artifact = await makePackage(api, { organization, name, libraryType });
  const { id } = artifact;
  const path = `/v2/packages/${organization}/${id}/import`;
  const recountBodies = await openRecount(tables);
  const recount = (...bodies: Buffer[]) =>
    recountBodies(
      bodies.map((bytes) => ({ bytes, target: id })),
      [artifact],
    );
  return {
    artifact,
    path,
    recount,
    bodyOf: (mix) => Buffer.concat([...generateBody({ ...MIX, ...mix, packages: [{ id, libraryType }] })]),
    send: async (client, body) => client.pollToDone(await client.importBody(path, body)),
    readExports: async (client) =>
      (await client.readAggregates(organization, RANGE)).filter((line) => line.package === id),
    async expectExports(client, ...bodies) {
      const { aggregates: expected } = recount(...bodies);
      await readUntil(client, organization, { packageId: id, range: RANGE, expected });
    },
  };
}
