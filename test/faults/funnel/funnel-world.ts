import type { Client } from "pg";
import { connectApi } from "../../../deploy/demo/api-client.js";
import { onPostgres } from "../../support/stores/on-postgres.js";
import { startToolchain } from "../../support/program/start-toolchain.js";
import { untilAnswered } from "../worlds/until-answered.js";
import { openArmedPlan, armedProgram } from "../worlds/armed-program.js";
import type { LoopDisk } from "../../support/program/loop-disk.js";
import type { FunnelAction } from "./plan-funnel-seed.js";
import type { FaultWorld } from "../worlds/fault-world.js";

type OfAnyWorld = Pick<FaultWorld, "api" | "arm" | "disarm" | "carriedOut" | "whenRunning">;

/** The whole program with its own stores, which computes stages all the time and delivers what it announces. */
export interface FunnelWorld extends OfAnyWorld, AsyncDisposable {
  /** What strikes it. */
  readonly action: FunnelAction;
  /** SIGKILL, now. */
  kill(): Promise<void>;
  /** Asks the database until it answers. */
  askPostgres<T>(question: (client: Client) => Promise<T>): Promise<T>;
}

const EVERY_SECOND = "* * * * * *";
const PATIENCE_MS = 240_000;

/** On a disk, which is disposed of with it, its power is cut. */
export async function openFunnelWorld({ disk }: { disk?: LoopDisk } = {}): Promise<FunnelWorld> {
  const armed = await openArmedPlan();
  const power = disk === undefined ? {} : { FAULT_POWER: disk.path };
  const env = {
    ...armed.env,
    ...power,
    FUNNEL_SCHEDULE: EVERY_SECOND,
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
  };
  const toolchain = await startToolchain({ disk, env, prepared: ["databases", "places"] });
  const account = await toolchain.newAccount("ada");
  const program = armedProgram(armed, toolchain);
  return {
    ...program,
    action: disk === undefined ? "kill program" : "cut power",
    get api() {
      return connectApi(toolchain.api, account.token);
    },
    kill: async () => void (await toolchain.kill("SIGKILL")),
    askPostgres: (question) =>
      untilAnswered(() => onPostgres(toolchain.endpoints.postgres, question), { patienceMs: PATIENCE_MS }),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await disk?.[Symbol.asyncDispose]();
    },
  };
}
