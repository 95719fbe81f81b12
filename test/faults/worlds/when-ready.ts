import { pause } from "../../../schemas/async/pause.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";
import { tail } from "../../support/program/toolchain-process.js";

/** A fault that is carried out late, such as the death of a store in the middle of an insert, has struck by then. */
export const FAULT_MS_MAX = 200;
const READY_MS_MAX = 300_000;

/** Waits until the program's stores answer. */
export async function whenReady(toolchain: Toolchain): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  const isReady = async () => (await fetch(`${toolchain.api}/readyz`)).ok;
  while (!(await isReady().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`the stores did not come back:\n${tail(toolchain.log())}`);
    await pause(50);
  }
}
