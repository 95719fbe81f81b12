import { parentPort } from "node:worker_threads";

/**
 * For a module that `superviseThread` runs. Resolves when the main thread sends `{ stop: true }`; passes other messages
 * to `onMessage`.
 */
export function untilStopped<Message extends object>(
  onMessage: (message: Exclude<Message, { stop: true }>) => void,
): Promise<undefined> {
  return new Promise((resolve) => {
    parentPort?.on("message", (message: Message) => {
      if ("stop" in message) resolve(undefined);
      else onMessage(message as Exclude<Message, { stop: true }>);
    });
  });
}
