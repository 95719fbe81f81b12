import type { Command } from "commander";
import { StartFailure } from "../../../deploy/process/start-failure.js";

/** Runs a command of the workshop with the arguments of this process, and ends the process as `deploy/main.ts` does. */
export async function runCommand(command: Command): Promise<never> {
  try {
    await command.parseAsync();
  } catch (error) {
    // A sentence is for a person; anything else is a fault of ours and needs its stack.
    const text =
      error instanceof StartFailure ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
  // Stores that were closed may leave a socket to time out; nothing is left to wait for.
  process.exit();
}
