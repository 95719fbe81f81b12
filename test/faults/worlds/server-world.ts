import { join } from "node:path";
import { pino } from "pino";
import { type EmbeddedPostgres, startPostgres } from "../../../deploy/stores/embedded/postgres/postgres.js";
import type { LoopDisk } from "../../support/program/loop-disk.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { SERVER_POWER_FAULTS } from "../plans/fault-catalog.js";
import { openArmedPlan } from "./armed-program.js";
import type { FaultWorld } from "./fault-world.js";
import { startPowerlessServer } from "./powerless-server.js";
import { openProgramWorld } from "./program-world.js";

const SECRET_KEY = Buffer.alloc(32, "known to tests").toString("base64");

interface ServerWorldOptions extends Partial<Pick<FaultWorld, "faults">> {
  disk: LoopDisk;
  /** Starts one on the same disk, in place of the program's own. */
  startPostgres?: (disk: LoopDisk) => Promise<Pick<EmbeddedPostgres, "url"> & AsyncDisposable>;
}

/** One program with a ClickHouse server of somebody else's, whose power is cut while the program goes on. */
export async function openServerWorld(options: ServerWorldOptions): Promise<FaultWorld> {
  const { disk, faults = SERVER_POWER_FAULTS } = options;
  const server = await startPowerlessServer(disk);
  const postgres = await options.startPostgres?.(disk);
  const armed = await openArmedPlan();
  const toolchain = await startToolchain({
    env: {
      ...armed.env,
      CLICKHOUSE_URL: server.url,
      ...(postgres !== undefined && { DATABASE_URL: postgres.url, SECRET_KEY }),
      ENRICH_WORKERS: "2",
      FAULT_POWER: disk.path,
      FAULT_STORES_DIR: disk.path,
    },
  });
  const beside = {
    whenRunning: () => server.whenRunning(),
    async [Symbol.asyncDispose]() {
      await postgres?.[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
  return openProgramWorld({ armed, toolchain, faults, clickhouseUrl: () => server.url, beside });
}

/** With its default `fsync`. After a power cut it is started until the disk is back, which the ClickHouse server sees to. */
export function startPostgresOn(disk: LoopDisk): Promise<EmbeddedPostgres> {
  return startPostgres({ dir: join(disk.path, "postgres"), log: pino({ level: "silent" }), steadyMs: 0 });
}
