import { Random } from "../../../deploy/demo/random.js";
import { SERVER_ACTIONS, type FaultCatalog, type FaultKind, type ServerAction } from "./fault-catalog.js";

/** The plan of one seed: the same seed always plans the same. */
export interface SeedPlan {
  seed: number;
  faults: PlannedFault[];
  /** Each sends its imports one after the other, all of them at once. */
  senders: PlannedImport[][];
  /** Sent after them, one after the other, until every fault was carried out. */
  more: PlannedImport[];
}

export interface PlannedFault extends FaultKind {
  /** Which time that the point is passed. */
  hit: number;
  delayMs: number;
  /** Chooses the server that is harmed, by its remainder. */
  server?: number;
}

export function isOfServers(fault: FaultKind): fault is FaultKind & { action: ServerAction } {
  return (SERVER_ACTIONS as readonly string[]).includes(fault.action);
}

export interface PlannedImport {
  /** Idempotency-Key. */
  key: string;
  /** Which of the seed's packages it goes into. */
  package: number;
  /** Lines that are good; those that are refused come after them. */
  lines: number;
  refused: number;
  /** Line ids come from a range that other imports share. */
  startAt: number;
  gzip: boolean;
  ending: ImportEnding;
}

/** `break off`: the sender closes the connection halfway and does not come back. */
export type ImportEnding = "keep" | "break off" | "retract" | "abort";

export const PACKAGES = 2;

export function planSeed(seed: number, catalog: FaultCatalog): SeedPlan {
  const random = new Random(seed);
  const faults = planFaults(catalog, { seed, random });
  const senders = Array.from({ length: 2 + random.below(2) }, (_, sender) =>
    Array.from({ length: 1 + random.below(2) }, (_, index) =>
      planImport({ key: `${seed}-${sender}-${index}`, random }),
    ),
  );
  return { seed, faults, senders, more: [] };
}

const MORE_MAX = 12;

/** One import after another while each kind strikes at its point's first pass: what one leaves, the next one meets. */
export function planEach(kinds: readonly FaultKind[], { seed }: { seed: number }): SeedPlan {
  const random = new Random(seed);
  const faults = kinds.map((kind) => ({ ...kind, hit: 1, delayMs: delayOf(kind, random) }));
  const more = Array.from({ length: MORE_MAX }, (_, index) => ({
    ...planImport({ key: `${seed}-more-${index}`, random }),
    // The same lines each time, which override those of the import before: settlement passes all of its points.
    ...{ startAt: 0, lines: 800, package: 0, ending: "keep" as const },
  }));
  return { ...planSeed(seed, { turns: [], more: [] }), faults, more };
}

/** Consecutive seeds take the kinds in turn, so that a few seeds have been everywhere. */
function planFaults(
  { turns, more }: FaultCatalog,
  { seed, random }: { seed: number; random: Random },
): PlannedFault[] {
  const kinds = turns.map((list) => list[seed % list.length] as FaultKind);
  if (random.chance(0.5) && more.length > 0) kinds.push(random.pick(more));
  return kinds.map((kind) => ({
    ...kind,
    hit: random.chance(0.7) ? 1 : 2,
    delayMs: delayOf(kind, random),
    ...(isOfServers(kind) && { server: random.below(SERVERS_MAX) }),
  }));
}

/** More than there are, and divided by every small number of them. */
const SERVERS_MAX = 840;

function delayOf({ delayMsMin = 1, delayMsMax }: FaultKind, random: Random): number {
  return delayMsMax === 0 ? 0 : delayMsMin + random.below(delayMsMax - delayMsMin + 1);
}

function planImport({ key, random }: { key: string; random: Random }): PlannedImport {
  return {
    key,
    package: random.below(PACKAGES),
    lines: 500 + random.below(3_500),
    refused: random.below(20),
    startAt: random.below(3) * 1_500,
    gzip: random.chance(0.4),
    ending: random.pick(["keep", "keep", "keep", "keep", "break off", "retract", "abort"] as const),
  };
}
