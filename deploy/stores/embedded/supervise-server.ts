import type { Logger } from "pino";
import { pause } from "../../../schemas/async/pause.js";

/** A server that runs now. */
export interface Running {
  readonly pid: number;
  /** How it ended, in words. */
  readonly gone: Promise<string>;
  /** Ends it cleanly and waits for that. */
  stop(): Promise<void>;
}

export interface SuperviseServerOptions {
  /** As a person calls it: "ClickHouse". */
  name: string;
  log: Logger;
  start: () => Promise<Running>;
  /** The pauses before each attempt to start it again; when they are used up, it is given up. */
  pausesMs?: readonly number[];
  /** After running this long it has all its attempts again. */
  steadyMs?: number;
}

/** A server that is started again when it dies. */
export interface SupervisedServer {
  /** Of the process that runs now; another after a restart. */
  readonly pid: number;
  /** Resolves with the reason when it was given up; never when it was stopped. */
  readonly exited: Promise<Error>;
  stop(): Promise<void>;
}

const PAUSES_MS = [100, 500, 1_000, 2_000, 5_000, 10_000];
const STEADY_MS = 60_000;

/** Starts a server and starts it again when it dies, within bounds. Rejects when the first start fails. */
export async function superviseServer(options: SuperviseServerOptions): Promise<SupervisedServer> {
  const { name, log, start, pausesMs = PAUSES_MS, steadyMs = STEADY_MS } = options;
  const stopping = new AbortController();
  let current = await start();
  let giveUp: (reason: Error) => void;
  const exited = new Promise<Error>((resolve) => (giveUp = resolve));

  const watched = watch();
  return {
    get pid() {
      return current.pid;
    },
    exited,
    async stop() {
      stopping.abort();
      await current.stop();
      await watched;
    },
  };

  async function watch(): Promise<void> {
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
    giveUp(new Error(`${name} ended (${reason}) and could not be started again`));

    async function restart(): Promise<"running" | "stopped" | "given up"> {
      for (const pauseMs of pausesMs.slice(attempts)) {
        attempts += 1;
        await pause(pauseMs, { signal: stopping.signal });
        if (stopping.signal.aborted) return "stopped";
        try {
          current = await start();
        } catch (error) {
          log.error({ err: error, store: name }, `${name} could not be started again`);
          continue;
        }
        if (stopping.signal.aborted) return current.stop().then(() => "stopped" as const);
        log.warn({ store: name, serverPid: current.pid }, `${name} was started again`);
        return "running";
      }
      return "given up";
    }
  }
}
