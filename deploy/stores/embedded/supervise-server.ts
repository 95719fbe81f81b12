import type { Logger } from "pino";
import { pause } from "../../../schemas/async/pause.js";
import { storeFailure } from "../../process/start-failure.js";
import type { ServerProcess } from "./server-process.js";

export interface Running {
  readonly pid: number;
  /** Resolves with how it ended, such as `exit status 1`. */
  readonly gone: Promise<string>;
  /** Shuts the server down and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface SuperviseServerOptions {
  /** The server's name in messages, such as "ClickHouse". */
  name: string;
  log: Logger;
  start: () => Promise<Running>;
  /** The pauses before each restart. After the last one fails, the server is given up. */
  pausesMs?: readonly number[];
  /** A server that ran this long has all its restarts again. */
  steadyMs?: number;
}

const PAUSES_MS = [100, 500, 1_000, 2_000, 5_000, 10_000];
const STEADY_MS = 60_000;

/** Starts a server and restarts it when it dies, a limited number of times. Rejects when the first start fails. */
export async function superviseServer(options: SuperviseServerOptions) {
  const { name, log, start, pausesMs = PAUSES_MS, steadyMs = STEADY_MS } = options;
  const stopping = new AbortController();
  let current = await start();
  let giveUp: (reason: Error) => void;
  const exited = new Promise<Error>((resolve) => (giveUp = resolve));

  const supervising = supervise();
  return {
    /** Of the current process; another one after a restart. */
    get pid() {
      return current.pid;
    },
    /** Resolves with the reason when the server was given up. Never resolves after `stop`. */
    exited,
    async stop() {
      stopping.abort();
      await current.stop();
      await supervising;
    },
  };

  async function supervise(): Promise<void> {
    let attempts = 0;
    let reason: string;
    for (;;) {
      const since = performance.now();
      reason = await current.gone;
      if (stopping.signal.aborted) return;
      if (performance.now() - since >= steadyMs) attempts = 0;
      log.error({ store: name, reason }, `${name} ended unexpectedly`);
      const restarted = await restart();
      if (restarted === "stopped") return;
      if (restarted === "given up") break;
    }
    giveUp(new Error(`${name} ended (${reason}) and could not be restarted`));

    async function restart(): Promise<"running" | "stopped" | "given up"> {
      for (const pauseMs of pausesMs.slice(attempts)) {
        attempts += 1;
        await pause(pauseMs, { signal: stopping.signal });
        if (stopping.signal.aborted) return "stopped";
        try {
          current = await start();
        } catch (error) {
          log.error({ err: error, store: name }, `${name} could not be restarted`);
          continue;
        }
        if (stopping.signal.aborted) return current.stop().then(() => "stopped" as const);
        log.warn({ store: name, serverPid: current.pid }, `${name} was restarted`);
        return "running";
      }
      return "given up";
    }
  }
}

interface AwaitedServer {
  name: string;
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
    if (performance.now() > deadline) throw failure(`did not respond within ${timeoutMs / 1000} s`);
  }
}
