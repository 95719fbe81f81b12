import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that the kernel gives to outgoing connections (32768 on Linux, 49152 elsewhere): a store that is
// started again on its port must not find a client of its own there.
const LOWEST = 20_000;
const HIGHEST = 30_000;
const TRIES = 200;

/** A port of 127.0.0.1 that was free a moment ago: whoever takes it must be ready to find it taken. */
async function findFreePort(): Promise<number> {
  for (let left = TRIES; left > 0; left -= 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFreePort(port)) return port;
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST} in ${TRIES} tries`);
}

const START_TRIES = 5;

/** Starts something on a free port, again on another where a program took it between our look and the start. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let left = START_TRIES; ; left -= 1) {
    const port = await findFreePort();
    try {
      return await start(port);
    } catch (error) {
      if (left === 0 || (await isFreePort(port))) throw error;
    }
  }
}

export function isFreePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
