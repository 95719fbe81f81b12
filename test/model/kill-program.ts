import type { FaultWorld } from "../faults/worlds/fault-world.js";

/** Events of live requests are in the log by then. */
export const FLUSHED_MS = 1_000;

/** One of the programs, which is started again. */
export async function killProgram(world: FaultWorld, which: number): Promise<void> {
  await world.programs[which % world.programs.length]?.kill("SIGKILL");
  await world.whenRunning();
}
