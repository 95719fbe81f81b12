import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_FAULT_POINTS, channelOf } from "../../../schemas/fault-point.js";
import type { ProcessEnvironment } from "../../support/program/toolchain-process.js";
import type { PlannedFault } from "../plans/plan-seed.js";

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
