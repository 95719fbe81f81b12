import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the ports that the kernel assigns to outgoing connections (32768 and above on Linux, 49152 elsewhere).
// Otherwise, while a store restarts, one of its clients could take its port.
const LOWEST = 20_000;
const HIGHEST = 30_000;
const TRIES = 200;

/** A port of 127.0.0.1 that was free a moment ago. Another program may take it before the caller does. */
async function findFreePort(): Promise<number> {
  for (let left = TRIES; left > 0; left -= 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFreePort(port)) return port;
  }
  throw new Error(`No free port was found between ${LOWEST} and ${HIGHEST} in ${TRIES} attempts`);
}

const START_TRIES = 5;

/** Calls `start` with a free port, and with another one when a program has taken it before the start. */
export function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  return onFreePorts(1, ([port]) => start(port as number));
}

/** The same with several different ports. `start` leaves none of them taken when it fails. */
export async function onFreePorts<T>(
  count: number,
  start: (ports: readonly number[]) => Promise<T>,
): Promise<T> {
  for (let left = START_TRIES; ; left -= 1) {
    const ports = new Set<number>();
    while (ports.size < count) ports.add(await findFreePort());
    try {
      return await start([...ports]);
    } catch (error) {
      const free = await Promise.all([...ports].map(isFreePort));
      if (left === 0 || !free.includes(false)) throw error;
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
