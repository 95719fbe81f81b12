import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { compareAll } from "./compare.js";
import { openModelOwner } from "./model-owner.js";
import { planSteps, type Step, shrinkSteps } from "./plan-steps.js";
import { takeStep } from "./take-step.js";

export interface ModelReport {
  seed: number;
  steps: number;
  kills: number;
  durationMs: number;
  /** What differed, and the shortest steps found that lead there. */
  failure?: { message: string; steps: readonly Step[] };
}

export interface ModelRun {
  seed: number;
  steps: number;
  kills: boolean;
  /** Hears of a difference before its steps are shortened. */
  note: (text: string) => void;
}

const SHRINK_MS_MAX = 300_000;

/** Takes the steps of a seed, compares at the end, and shortens them where the service and the model differ. */
export async function runModelSeed(
  world: FaultWorld,
  { seed, steps, kills, note }: ModelRun,
): Promise<ModelReport> {
  const startedAt = performance.now();
  let owners = 0;
  const planned = planSteps(seed, { steps, kills });
  const attempt = (some: readonly Step[]) => runSteps(world, some, `model-${seed}-${owners++}`);
  const message = await attempt(planned);
  const report = {
    seed,
    steps,
    kills: planned.filter((step) => step.do === "kill" || (step.do === "erase" && step.kill)).length,
    durationMs: performance.now() - startedAt,
  };
  if (message === undefined) return report;
  note(`seed ${seed} differs, looking for fewer steps: ${message}`);
  const until = Date.now() + SHRINK_MS_MAX;
  return { ...report, failure: await shrinkSteps({ message, steps: planned }, { attempt, until }) };
}

/** @returns what differed; nothing where the service and the model agree */
async function runSteps(
  world: FaultWorld,
  steps: readonly Step[],
  name: string,
): Promise<string | undefined> {
  await using owner = await openModelOwner(world, name);
  try {
    for (const step of steps) await takeStep(world, owner, step);
    await compareAll(world, owner);
    return undefined;
  } catch (error) {
    await world.whenRunning();
    return (error as Error).message;
  }
}
