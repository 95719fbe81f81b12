import { isFreePort } from "../../deploy/process/free-port.js";
import { StartFailure } from "../../deploy/process/start-failure.js";

/** Throws StartFailure when a program already listens on this port of 127.0.0.1. */
export async function assertFreePort(port: number): Promise<void> {
  if (await isFreePort(port)) return;
  throw new StartFailure(
    `Port ${port} on 127.0.0.1 is taken: stop the program that uses it, or choose another with --port.`,
  );
}
