import fc from "fast-check";
import type { FuzzOwner, FuzzWorld } from "./fuzz-world.js";

/** One kind of input, and what must hold of each. */
export interface FuzzTarget<Input = unknown> {
  name: string;
  /** How many inputs a round tries. */
  runs: number;
  /** What the inputs of a round share; its own `close` checks what all of them left behind. */
  open(world: FuzzWorld, owner: FuzzOwner): Promise<FuzzRound<Input>>;
}

export interface FuzzRound<Input> {
  inputs: fc.Arbitrary<Input>;
  /** Throws where a promise is broken. */
  attempt(input: Input): Promise<void>;
  /** Throws where the inputs together broke one. */
  close(): Promise<void>;
}

const SHRINK_MS_MAX = 120_000;

/** @returns the shrunk input that failed, with its seed; nothing where every promise was kept */
export async function fuzzRound<Input>(
  world: FuzzWorld,
  target: FuzzTarget<Input>,
  { seed, runs = target.runs }: { seed: number; runs?: number },
): Promise<string | undefined> {
  const round = await target.open(world, await world.newOwner());
  const details = await fc.check(
    fc.asyncProperty(round.inputs, (input) => round.attempt(input)),
    { seed, numRuns: runs, interruptAfterTimeLimit: SHRINK_MS_MAX },
  );
  if (details.failed)
    return `${target.name}, seed ${seed}: ${fc.defaultReportMessage(details)}\n${String(details.errorInstance)}`;
  const broken = await round.close().then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  return broken && `${target.name}, seed ${seed}, all inputs together: ${broken.stack}`;
}
