import { storeFailure } from "../../process/start-failure.js";
import type { ServerProcess } from "./server-process.js";

export interface AwaitedServer {
  /** For error messages, such as `ClickHouse`. */
  name: string;
  /** Its data folder, for error messages. */
  dir: string;
  answers: () => Promise<boolean>;
  timeoutMs?: number;
}

/** Recovery after a crash takes long. A process that hangs is given up after this time. */
const READY_MS_MAX = 120_000;
const POLL_MS = 25;

/** Resolves when the server answers. Throws StartFailure when it ends before, or does not answer in time. */
export async function untilAnswering(
  child: ServerProcess,
  { name, dir, answers, timeoutMs = READY_MS_MAX }: AwaitedServer,
): Promise<void> {
  const failure = (problem: string) =>
    storeFailure(`${name} on ${dir} ${problem}`, { dir, tail: child.tail() });
  const deadline = performance.now() + timeoutMs;
  while (!(await answers())) {
    if (await child.isGoneWithin(POLL_MS)) throw failure(`did not start (${await child.gone})`);
    if (performance.now() > deadline) throw failure(`does not answer after ${timeoutMs / 1000} s`);
  }
}
