import { pause } from "../../../schemas/async/pause.js";
import { FAULT_POINTS } from "../../../schemas/fault-point.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";

export interface Supervisor {
  /** Resolves when the program runs; throws why it could not be started again. */
  whenRunning(): Promise<void>;
  stop(): Promise<void>;
}

/** A fault may strike while the program starts: then it is started once more. There may be a fault at every point. */
const STARTS_MAX = 2 + FAULT_POINTS.length;

/** Starts the program again whenever it ends. */
export function supervise(toolchain: Toolchain): Supervisor {
  const stopping = new AbortController();
  const stopped = new Promise<"stopped">((resolve) => {
    stopping.signal.addEventListener("abort", () => resolve("stopped"));
  });
  let running = Promise.resolve();
  const watched = watch();
  return {
    async whenRunning() {
      // Connections to a program that has just died fail a moment before its end is known here.
      await pause(50);
      await running;
    },
    async stop() {
      stopping.abort();
      await watched.catch(() => undefined);
    },
  };

  async function watch(): Promise<void> {
    for (;;) {
      if ((await Promise.race([toolchain.gone, stopped])) === "stopped") return;
      running = startAgain(toolchain);
      // Callers of whenRunning hear of a failure.
      await running;
    }
  }
}

async function startAgain(toolchain: Toolchain): Promise<void> {
  for (let start = 1; ; start++) {
    try {
      await toolchain.restart();
      return;
    } catch (error) {
      if (start === STARTS_MAX) throw error;
    }
  }
}
