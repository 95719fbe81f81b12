import { Random } from "../../deploy/demo/random.js";

/** What a user does next, or what happens to the program. `which` counts on from the first that there is. */
export type Step =
  | ({ do: "import" } & PlannedBody)
  | { do: "retract"; which: number }
  | { do: "make package" }
  | { do: "rename package"; which: number }
  | { do: "delete package"; which: number }
  | { do: "collect"; seed: number; events: number }
  | { do: "compute stages" }
  | { do: "compare" }
  /** `kill`: the program dies in the middle of it. */
  | { do: "erase"; which: number; kill: boolean }
  | { do: "kill"; which: number };

export interface PlannedBody {
  seed: number;
  /** Lines that are good; those that are refused come after them. */
  lines: number;
  refused: number;
  gzip: boolean;
  /** `repeat`: sent twice under one Idempotency-Key. `break off`: the sender closes the connection halfway. */
  ending: "keep" | "repeat" | "break off" | "abort" | "abort and retract";
}

const LINES_MAX = 60;
const EVENTS_MAX = 6;

/** The steps of one seed: the same seed always plans the same. */
export function planSteps(seed: number, { steps, kills }: { steps: number; kills: boolean }): Step[] {
  const random = new Random(seed);
  const kinds = [...KINDS, ...(kills ? (["kill", "kill"] as const) : [])];
  return Array.from({ length: steps }, () => planStep(random.pick(kinds), { random, kills }));
}

/** As often as they are to come. */
const KINDS: readonly Step["do"][] = [
  ...Array<"import">(14).fill("import"),
  ...Array<"collect">(8).fill("collect"),
  ...Array<"retract">(4).fill("retract"),
  ...Array<"compute stages">(3).fill("compute stages"),
  ...Array<"compare">(3).fill("compare"),
  ...Array<"erase">(2).fill("erase"),
  ...(["make package", "make package", "rename package", "rename package", "delete package"] as const),
];

function planStep(kind: Step["do"], { random, kills }: { random: Random; kills: boolean }): Step {
  const which = random.below(1_000);
  switch (kind) {
    case "import":
      return { do: kind, ...planBody(random) };
    case "collect":
      return { do: kind, seed: random.uint32(), events: 1 + random.below(EVENTS_MAX) };
    case "make package":
    case "compute stages":
    case "compare":
      return { do: kind };
    case "erase":
      return { do: kind, which, kill: kills && random.chance(0.5) };
    case "retract":
    case "rename package":
    case "delete package":
    case "kill":
      return { do: kind, which };
  }
}

function planBody(random: Random): PlannedBody {
  return {
    seed: random.uint32(),
    lines: 1 + random.below(LINES_MAX),
    refused: random.chance(0.3) ? random.below(4) : 0,
    gzip: random.chance(0.3),
    ending: random.pick([
      ...(["keep", "keep", "keep", "keep", "keep"] as const),
      ...(["repeat", "break off", "abort", "abort and retract"] as const),
    ]),
  };
}

/** Steps that lead to a failure. */
interface Failing<Step> {
  message: string;
  steps: readonly Step[];
}

/**
 * Leaves out ever smaller runs of steps, for as long as the rest still fails and there is time: delta debugging.
 * `attempt` answers how some steps fail, if they do.
 */
export async function shrinkSteps<Step>(
  failing: Failing<Step>,
  { attempt, until }: { attempt: (steps: readonly Step[]) => Promise<string | undefined>; until: number },
): Promise<Failing<Step>> {
  let shortest = failing;
  for (
    let size = Math.ceil(failing.steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < shortest.steps.length && Date.now() < until;) {
      const rest = shortest.steps.filter((_, index) => index < at || index >= at + size);
      const message = await attempt(rest);
      if (message === undefined) at += size;
      else shortest = { message, steps: rest };
    }
  }
  return shortest;
}
