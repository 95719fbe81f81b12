import type { LoopDisk } from "../../support/program/loop-disk.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { SERVER_POWER_FAULTS } from "../plans/fault-catalog.js";
import { openArmedPlan } from "./armed-program.js";
import type { FaultWorld } from "./fault-world.js";
import { startPowerlessServer } from "./powerless-server.js";
import { openProgramWorld } from "./program-world.js";

/** One program with a ClickHouse server of somebody else's, whose power is cut while the program goes on. */
export async function openServerWorld({ disk }: { disk: LoopDisk }): Promise<FaultWorld> {
  const server = await startPowerlessServer(disk);
  const armed = await openArmedPlan();
  const toolchain = await startToolchain({
    env: {
      ...armed.env,
      CLICKHOUSE_URL: server.url,
      ENRICH_WORKERS: "2",
      FAULT_POWER: disk.path,
      FAULT_STORES_DIR: disk.path,
    },
  });
  const faults = SERVER_POWER_FAULTS;
  return openProgramWorld({ armed, toolchain, faults, clickhouseUrl: () => server.url, beside: server });
}
