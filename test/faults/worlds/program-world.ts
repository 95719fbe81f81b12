import { connectApi } from "../../../deploy/demo/api-client.js";
import { makeExporter, openRecount } from "../../support/imports/import-world.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import type { FaultCatalog } from "../plans/fault-catalog.js";
import { type ArmedPlan, armedProgram } from "./armed-program.js";
import { type FaultWorld, openPersistentClickHouse } from "./fault-world.js";

interface ProgramWorld {
  armed: ArmedPlan;
  toolchain: Toolchain;
  faults: FaultCatalog;
  /** Of its one server. */
  clickhouseUrl: () => string;
  /** What its stores are on: waited for and disposed of after the program. */
  beside?: (AsyncDisposable & { whenRunning?(): Promise<void> }) | undefined;
}

const ORGANIZATION = "survivor";

/** One program with the embedded event log and one server of ClickHouse. */
export async function openProgramWorld({
  armed,
  toolchain,
  faults,
  clickhouseUrl,
  beside,
}: ProgramWorld): Promise<FaultWorld> {
  const account = await makeExporter(toolchain, ORGANIZATION);
  const clickhouse = openPersistentClickHouse(clickhouseUrl);
  const program = armedProgram(armed, toolchain);
  return {
    ...program,
    async whenRunning() {
      await program.whenRunning();
      await beside?.whenRunning?.();
    },
    faults,
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
      await beside?.[Symbol.asyncDispose]();
    },
  };
}
