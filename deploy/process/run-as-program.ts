import { StartFailure, causesOf } from "./start-failure.js";

/** Does the work of a program, and ends the process: with status 1 and a text if the work fails. */
export async function runAsProgram(work: () => Promise<unknown>): Promise<never> {
  try {
    await work();
  } catch (error) {
    // A sentence is for a person; anything else is a fault of ours and needs its stack.
    const text = error instanceof StartFailure ? error.message : withStack(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
  // Stores that were closed may leave a socket to time out; nothing is left to wait for.
  process.exit();
}

function withStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, ...causesOf(error.cause)].join("\ncaused by: ");
}
