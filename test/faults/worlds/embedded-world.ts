import { connectApi } from "../../../deploy/demo/api-client.js";
import { makeExporter, openRecount } from "../../support/imports/import-world.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import type { LoopDisk } from "../../support/program/loop-disk.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { openArmedPlan, armedProgram } from "./armed-program.js";
import { EMBEDDED_FAULTS, POWER_FAULTS } from "../plans/fault-catalog.js";
import { type FaultWorld, type WorldOptions, openPersistentClickHouse } from "./fault-world.js";

const ORGANIZATION = "survivor";

/**
 * One program with its own stores and the embedded event log. On a disk, which is disposed of with it, its power is cut.
 */
export async function openEmbeddedWorld({
  env = {},
  disk,
}: WorldOptions & { disk?: LoopDisk } = {}): Promise<FaultWorld> {
  const armed = await openArmedPlan();
  const power = disk === undefined ? {} : { FAULT_POWER: disk.path };
  const toolchain = await startToolchain({
    disk,
    env: { ...armed.env, ENRICH_WORKERS: "2", ...power, ...env },
  });
  const account = await makeExporter(toolchain, ORGANIZATION);
  const clickhouse = openPersistentClickHouse(() => toolchain.endpoints.clickhouse ?? "");
  const program = armedProgram(armed, toolchain);
  return {
    ...program,
    faults: disk === undefined ? EMBEDDED_FAULTS : POWER_FAULTS,
    programs: [toolchain],
    collector: toolchain,
    organization: ORGANIZATION,
    recountBodies: await openRecount(),
    get api() {
      return connectApi(toolchain.api, account.token);
    },
    withPostgres: (work) => onPostgres(toolchain.endpoints.postgres, work),
    clickhouse,
    shards: [[clickhouse]],
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await disk?.[Symbol.asyncDispose]();
    },
  };
}
