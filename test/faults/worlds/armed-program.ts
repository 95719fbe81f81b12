import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_FAULT_POINTS, channelOf, FAULT_POINTS } from "../../../schemas/fault-point.js";
import { type ProcessEnvironment, tail } from "../../support/program/toolchain-process.js";
import type { PlannedFault } from "../plans/plan-seed.js";
import { pause } from "../../../schemas/async/pause.js";
import type { Toolchain } from "../../support/program/start-toolchain.js";

/** The file that the preloaded module reads, and the marks that it leaves. */
export interface ArmedPlan extends AsyncDisposable {
  /** For each program under test. */
  readonly env: ProcessEnvironment;
  put(faults: readonly PlannedFault[], targets?: { brokerPid: number }): Promise<void>;
  clear(): Promise<void>;
  /** Which of the faults put last were carried out, by their place in the list, with the process that did. */
  carriedOut(): Promise<Map<number, number>>;
}

const ARM = new URL("arm.mjs", import.meta.url).href;

export async function openArmedPlan(): Promise<ArmedPlan> {
  const dir = await mkdtemp(join(tmpdir(), "toolchain-faults-"));
  const file = join(dir, "plan.json");
  let plans = 0;
  async function write(plan: readonly object[]): Promise<void> {
    await writeFile(`${file}.new`, JSON.stringify(plan));
    await rename(`${file}.new`, file);
  }
  await write([]);
  return {
    env: {
      NODE_OPTIONS: `--import=${ARM}`,
      FAULT_PLAN: file,
      FAULT_CHANNELS: ALL_FAULT_POINTS.map(channelOf).join(","),
    },
    async put(faults, targets) {
      plans += 1;
      const plan = faults.flatMap(({ point, counted, action, hit, delayMs }, index) =>
        point === "between-rows-and-views"
          ? []
          : [
              {
                id: `${plans}-${index}`,
                channel: channelOf(point),
                counted: channelOf(counted ?? point),
                ...{ action, hit, delayMs, ...targets },
              },
            ],
      );
      await write(plan);
    },
    clear: () => write([]),
    async carriedOut() {
      const prefix = `plan.json.${plans}-`;
      const marks = (await readdir(dir)).filter((name) => name.startsWith(prefix));
      const struck = marks.map(async (name): Promise<[number, number]> => [
        Number(name.slice(prefix.length)),
        Number(await readFile(join(dir, name), "utf8")),
      ]);
      return new Map(await Promise.all(struck));
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A program that is started again whenever it dies of the plan's faults; disposed of with the plan. */
export function armedProgram(armed: ArmedPlan, toolchain: Toolchain) {
  const supervisor = supervise(toolchain);
  let lateMsMax = 0;
  return {
    arm(faults: Parameters<ArmedPlan["put"]>[0]) {
      lateMsMax = Math.max(0, ...faults.map(({ delayMs }) => delayMs));
      return armed.put(faults);
    },
    async disarm() {
      await armed.clear();
      await pause(lateMsMax + FAULT_MS_MAX);
      await supervisor.whenRunning();
      await whenReady(toolchain);
    },
    carriedOut: async () => new Set((await armed.carriedOut()).keys()),
    whenRunning: () => supervisor.whenRunning(),
    async [Symbol.asyncDispose]() {
      await supervisor.stop();
      await toolchain.close();
      await armed[Symbol.asyncDispose]();
    },
  };
}

interface Supervisor {
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

/** A fault that is carried out late, such as the death of a store in the middle of an insert, has struck by then. */
export const FAULT_MS_MAX = 200;
const READY_MS_MAX = 300_000;

/** Waits until the program's stores answer. */
export async function whenReady(toolchain: Toolchain): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  const isReady = async () => (await fetch(`${toolchain.api}/readyz`)).ok;
  while (!(await isReady().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`the stores did not come back:\n${tail(toolchain.log())}`);
    await pause(50);
  }
}
