import { parentPort } from "node:worker_threads";

/** For a module that `superviseThread` runs: passes on what the thread is told, and resolves when it is told to stop. */
export function untilStopped<Told extends object>(
  hear: (message: Exclude<Told, { stop: true }>) => void,
): Promise<undefined> {
  return new Promise((resolve) => {
    parentPort?.on("message", (message: Told) => {
      if ("stop" in message) resolve(undefined);
      else hear(message as Exclude<Told, { stop: true }>);
    });
  });
}
