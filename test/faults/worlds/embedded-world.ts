import type { LoopDisk } from "../../support/program/loop-disk.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { EMBEDDED_FAULTS, POWER_FAULTS } from "../plans/fault-catalog.js";
import { openArmedPlan } from "./armed-program.js";
import type { FaultWorld, WorldOptions } from "./fault-world.js";
import { openProgramWorld } from "./program-world.js";

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
  const faults = disk === undefined ? EMBEDDED_FAULTS : POWER_FAULTS;
  const clickhouseUrl = () => toolchain.endpoints.clickhouse ?? "";
  return openProgramWorld({ armed, toolchain, faults, clickhouseUrl, beside: disk });
}
