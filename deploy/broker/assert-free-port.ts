import { isFreePort } from "../process/free-port.js";
import { StartFailure } from "../process/start-failure.js";

/** Throws StartFailure when something listens on this port of 127.0.0.1 already. */
export async function assertFreePort(port: number): Promise<void> {
  if (await isFreePort(port)) return;
  throw new StartFailure(
    `Port ${port} of 127.0.0.1 is taken: stop what listens there, or give another with --port.`,
  );
}
