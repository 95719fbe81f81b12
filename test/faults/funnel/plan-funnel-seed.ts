import { Random } from "../../../deploy/demo/random.js";
import { readCompanyAddresses, type KnownCompany } from "../../support/imports/company-addresses.js";
import type { FaultAction, FaultKind } from "../plans/fault-catalog.js";
import type { FaultPoint } from "../../../schemas/fault-point.js";
import type { PlannedFault } from "../plans/plan-seed.js";

/** The plan of one seed of the funnel: the same seed always plans the same. */
export interface FunnelSeedPlan {
  seed: number;
  /** One while it computes and one while it delivers. */
  faults: PlannedFault[];
  owners: PlannedOwner[];
  /** For each round how long after its imports were taken the program is killed, in milliseconds, wherever it is. */
  killsAfterMs: (number | undefined)[];
}

export interface PlannedOwner {
  name: string;
  webhooks: number;
  /** One for each round. */
  rounds: PlannedRound[];
}

/** Companies that move on to the same stage. */
export interface PlannedRound {
  stage: RoundStage;
  companies: readonly KnownCompany[];
}

/** What strikes at each point: the whole program dies, and its stores with it. */
export type FunnelAction = Extract<FaultAction, "kill program" | "cut power">;

/** `hit` counts announcements. */
const COMPUTING: readonly Pick<FaultKind, "point" | "counted">[] = [
  { point: "funnel-announced" },
  { point: "funnel-before-commit", counted: "funnel-announced" },
  { point: "funnel-after-commit", counted: "funnel-announced" },
];

const DELIVERING: typeof COMPUTING = [
  { point: "delivery-before-request" },
  { point: "delivery-after-answer" },
  { point: "delivery-after-record" },
];

export function funnelFaults(action: FunnelAction): FaultKind[] {
  return [...COMPUTING, ...DELIVERING].map((kind) => ({ ...kind, action, delayMsMax: 0 }));
}

/** The stage that each round leads to: by a view, a download on one day, downloads on two more. */
export const ROUND_STAGES = ["interest", "investigation", "experimentation"] as const;
export type RoundStage = (typeof ROUND_STAGES)[number];

const COMPANIES = await readCompanyAddresses();
const COMPANIES_MIN = 110;
/** A program may be gone before more of an event's deliveries have been passed. */
const HITS_MAX = 4;

export function planFunnelSeed(seed: number, action: FunnelAction = "kill program"): FunnelSeedPlan {
  const random = new Random(seed);
  const kinds = funnelFaults(action);
  const delivering = Math.floor(seed / COMPUTING.length) % DELIVERING.length;
  return {
    seed,
    faults: [
      planFault(kinds[seed % COMPUTING.length] as FaultKind, random),
      planFault(kinds[COMPUTING.length + delivering] as FaultKind, random),
    ],
    owners: [planOwner(`seed-${seed}-a`, 2, random), planOwner(`seed-${seed}-b`, 1, random)],
    killsAfterMs: ROUND_STAGES.map(() => (random.chance(0.25) ? random.below(3_000) : undefined)),
  };
}

/** The same owners while each of these points is struck, and nothing between. */
export function planFunnelPoints(points: readonly FaultPoint[], seed: number): FunnelSeedPlan {
  const random = new Random(seed);
  const kinds = funnelFaults("kill program").filter(({ point }) => points.includes(point as FaultPoint));
  const faults = kinds.map((kind) => planFault(kind, random));
  return { ...planFunnelSeed(seed), faults, killsAfterMs: ROUND_STAGES.map(() => undefined) };
}

/** Outcomes are recorded several at a time. */
function planFault(kind: FaultKind, random: Random): PlannedFault {
  const hitsMax = kind.point === "delivery-after-record" ? 1 : HITS_MAX;
  return { ...kind, hit: 1 + random.below(hitsMax), delayMs: 0 };
}

function planOwner(name: string, webhooks: number, random: Random): PlannedOwner {
  const known = COMPANIES.filter(() => random.chance(0.6));
  const all = known.length < COMPANIES_MIN ? COMPANIES : known;
  const rounds = ROUND_STAGES.map((stage, round) => ({
    stage,
    companies: round === 0 ? all : all.filter(() => random.chance(0.7)),
  }));
  return { name, webhooks, rounds };
}
