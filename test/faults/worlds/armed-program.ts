import { pause } from "../../../schemas/async/pause.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import type { openArmedPlan } from "./armed-plan.js";
import { supervise } from "./supervise.js";
import { FAULT_MS_MAX, whenReady } from "./when-ready.js";

type ArmedPlan = Awaited<ReturnType<typeof openArmedPlan>>;

/** A program that is started again whenever it dies of the plan's faults; disposed of with the plan. */
export function armedProgram(armed: ArmedPlan, toolchain: Toolchain) {
  const supervisor = supervise(toolchain);
  return {
    arm: (faults: Parameters<ArmedPlan["put"]>[0]) => armed.put(faults),
    async disarm() {
      await armed.clear();
      await pause(FAULT_MS_MAX);
      await supervisor.whenRunning();
      await whenReady(toolchain);
    },
    carriedOut: async () => new Set((await armed.carriedOut()).keys()),
    whenRunning: () => supervisor.whenRunning(),
    async [Symbol.asyncDispose]() {
      await supervisor.stop();
      await toolchain.close();
      await armed[Symbol.asyncDispose]();
    },
  };
}
