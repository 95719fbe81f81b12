import type { ApiClient } from "../../deploy/demo/api-client.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { expect } from "vitest";
import { expectedOutcome, outcomeOf } from "../support/imports/import-outcome.js";
import { type ImportTarget, makeTarget } from "../support/imports/import-target.js";
import { makeExporter } from "../support/imports/import-world.js";
import type { ComposeInstallation } from "./compose-installation.js";

/** Imports into one package, a third of whose lines take the place of others, and what its exports must then be. */
export interface ContainerImports {
  readonly api: ApiClient;
  readonly organization: string;
  readonly target: ImportTarget;
  /** How many events are counted. */
  live(): number;
  /** Sends lines, and waits for exact numbers. */
  send(lines: number): Promise<void>;
  /** Does something before the lines that were sent are counted. */
  during(harm: () => Promise<unknown>): Promise<void>;
  expectExports(): Promise<void>;
}

const LINES = 40_000;

export async function openContainerImports(installed: ComposeInstallation): Promise<ContainerImports> {
  const organization = "acme";
  const api = await makeExporter(installed, organization, "bob");
  // The containers have the whole lookup tables.
  const target = await makeTarget(api, { organization, libraryType: "docker", prepared: [] });
  /** In the order of receipt. */
  const kept: Buffer[] = [];
  const start = (lines: number) => {
    const body = target.bodyOf({ count: lines, startAt: kept.length * LINES });
    kept.push(body);
    return api.importBody(target.path, body, { gzip: true });
  };
  const expectExports = () => target.expectExports(api, ...kept);
  const expectDone = async (started: EventImport) => {
    const record = await api.pollToDone(started);
    const [expected] = target.recount(kept.at(-1) as Buffer).imports.map(expectedOutcome);
    expect(outcomeOf(record)).toEqual(expected);
    await expectExports();
  };
  return {
    api,
    organization,
    target,
    expectExports,
    live: () => target.recount(...kept).live.length,
    send: async (lines) => expectDone(await start(lines)),
    async during(harm) {
      const started = await start(LINES);
      await harm();
      await installed.compose("up", "--detach", "--no-recreate");
      await expectDone(started);
    },
  };
}
