import { connectApi } from "../../../deploy/demo/api-client.js";
import { makeExporter, openRecount } from "../../support/imports/import-world.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import type { LoopDisk } from "../../support/program/loop-disk.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { SERVER_POWER_FAULTS } from "../plans/fault-catalog.js";
import { openArmedPlan, armedProgram } from "./armed-program.js";
import { type FaultWorld, openPersistentClickHouse } from "./fault-world.js";
import { startPowerlessServer } from "./powerless-server.js";

const ORGANIZATION = "survivor";

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
  const account = await makeExporter(toolchain, ORGANIZATION);
  const clickhouse = openPersistentClickHouse(() => server.url);
  const program = armedProgram(armed, toolchain);
  return {
    ...program,
    async whenRunning() {
      await program.whenRunning();
      await server.whenRunning();
    },
    faults: SERVER_POWER_FAULTS,
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
      await server[Symbol.asyncDispose]();
    },
  };
}
