import { Random } from "../../../deploy/demo/random.js";
import { ERASURE_FAULTS } from "../plans/fault-catalog.js";
import { planSeed, type PlannedFault } from "../plans/plan-seed.js";

/** The plan of one seed of erasures: the same seed always plans the same. */
export interface ErasurePlan {
  seed: number;
  faults: PlannedFault[];
  /** The first is settled before anything else begins. */
  imports: PlannedLines[];
  erasures: { client: number; afterMs: number }[];
}

export interface PlannedLines {
  key: string;
  afterMs: number;
  lines: readonly PlannedLine[];
}

/** `id` is shared with other lines: the line that is received last overrides them. */
export interface PlannedLine {
  client: number;
  day: number;
  id: number | undefined;
}

export const CLIENTS = 5;
const DAYS = 12;
const IDS = 150;
const LINES_MAX = 260;
/** About as long as the imports take, with the deaths among them. */
const SPREAD_MS = 900;

export function planErasures(seed: number): ErasurePlan {
  const random = new Random(seed);
  const later = Array.from({ length: 2 + random.below(2) }, () => random.below(SPREAD_MS));
  const clients = random.chance(0.4) ? [0, 1] : [0];
  return {
    seed,
    faults: planSeed(seed, ERASURE_FAULTS).faults,
    imports: [0, ...later].map((afterMs, index) => ({
      ...{ key: `erasures-${seed}-${index}`, afterMs },
      lines: planLines(random, index > 0 && random.chance(0.3) ? 1 : CLIENTS),
    })),
    erasures: clients.map((client) => ({ client, afterMs: random.below(SPREAD_MS) })),
  };
}

/** Of a client alone nothing may stay, and days are left without any event. */
function planLines(random: Random, clients: number): PlannedLine[] {
  return Array.from({ length: CLIENTS + random.below(LINES_MAX) }, (_, line) => ({
    client: line % clients,
    day: 10 + random.below(DAYS),
    id: random.chance(0.6) ? random.below(IDS) : undefined,
  }));
}
