import { BESIDE_FAULT_POINTS, FAULT_POINTS, type FaultPoint } from "../../../schemas/fault-point.js";

export type FaultAction =
  | "kill program"
  | "cut power"
  | "kill clickhouse"
  | "kill postgres"
  | "fill disk"
  | "break view"
  | "kill broker"
  | "freeze broker"
  | "freeze program"
  | "leave group"
  | "refuse group"
  | ServerAction;

/** Harm to servers of a ClickHouse cluster, or to their keeper. */
export type ServerAction = (typeof SERVER_ACTIONS)[number];

export const SERVER_ACTIONS = [
  "kill replica",
  "freeze replica",
  "kill keeper",
  "kill shard",
  "lose replica",
  "cut replica",
  "cut shard",
] as const;

/** A way to go wrong: something dies where the program passes a point, or a view refuses what is inserted. */
export interface FaultKind {
  point: FaultPoint | "between-rows-and-views";
  action: FaultAction;
  /** Another point whose passes count: it strikes when `point` is passed next. */
  counted?: FaultPoint;
  /** How long after the point a store dies, or for how long something is unavailable, frozen or full, in milliseconds. */
  delayMsMax: number;
  /** 1 where nothing is said, or 0 where that is the most. */
  delayMsMin?: number;
}

/** Whether it strikes at an erasure or a dead letter, which then go on beside the imports. */
export function isBeside({ point }: Pick<FaultKind, "point">): boolean {
  return (BESIDE_FAULT_POINTS as readonly string[]).includes(point);
}

/** From each list of `turns` the kinds are taken in turn, one a seed; every other seed has one of `more` besides. */
export interface FaultCatalog {
  turns: readonly (readonly FaultKind[])[];
  more: readonly FaultKind[];
}

/** SIGKILL of a whole program, at every point; embedded stores die with it. */
const PROGRAM_KILLS: readonly FaultKind[] = FAULT_POINTS.map((point) => ({
  point,
  action: "kill program",
  delayMsMax: 0,
}));

const at = (action: FaultAction, delayMsMax: number, points: readonly FaultKind["point"][]): FaultKind[] =>
  points.map((point) => ({ point, action, delayMsMax }));

/** SIGKILL of one store, and views that fail. */
const STORE_FAULTS: readonly FaultKind[] = [
  // The delay is about as long as an insert or a settlement takes: the store dies somewhere in the middle of it.
  ...at("kill clickhouse", 150, ["before-insert", "settlement-staged", "settlement-found"]),
  ...at("kill clickhouse", 0, ["after-range", "after-insert", "after-sync", "settlement-applied"]),
  ...at("kill postgres", 0, ["before-upload-complete", "after-insert", "after-progress", "before-range"]),
  ...at("kill postgres", 0, ["settlement-found", "settlement-staged", "settlement-applied", "before-done"]),
];

const FULL_DISKS = at("fill disk", 1_500, [
  "before-append",
  "before-range",
  "after-insert",
  "after-progress",
]);
const BROKEN_VIEWS = at("break view", 0, ["between-rows-and-views"]);

const IN_A_BATCH = ["after-range", "before-insert", "after-insert", "after-progress"] as const;
/** A consumer of the fault tests is taken for dead after 2 s. */
const LONGER_THAN_A_SESSION = { delayMsMin: 3_500, delayMsMax: 5_000 };

/** Faults of a broker and of the group of its consumers. */
const GROUP_FAULTS: readonly FaultKind[] = [
  ...at("kill broker", 0, ["before-append", "after-append", "before-upload-complete", "before-range"]),
  ...at("freeze program", 0, IN_A_BATCH).map((kind) => ({ ...kind, ...LONGER_THAN_A_SESSION })),
  ...at("kill broker", 0, ["after-insert", "after-progress"]),
  ...at("leave group", 0, IN_A_BATCH),
  ...at("refuse group", 0, ["after-range", "before-upload-complete"]),
  ...at("kill broker", 5_000, ["before-append", "after-range"]),
  ...at("freeze broker", 5_000, ["before-append", "before-insert"]),
  { action: "kill broker", point: "before-append", delayMsMin: 60_000, delayMsMax: 60_000 },
];

/** Longer than the session of a server with its keeper, for some of them. */
const SERVER_AWAY_MS_MAX = 15_000;

const SERVER_FAULTS: readonly FaultKind[] = [
  ...at("kill replica", SERVER_AWAY_MS_MAX, ["before-insert", "settlement-staged", "after-range"]),
  ...at("freeze replica", SERVER_AWAY_MS_MAX, ["before-insert", "settlement-found"]),
  ...at("kill keeper", SERVER_AWAY_MS_MAX, ["before-insert", "settlement-staged"]),
  ...at("kill shard", SERVER_AWAY_MS_MAX, ["after-range", "settlement-found"]),
  ...at("lose replica", 0, ["before-insert", "settlement-staged"]),
  ...at("kill replica", 0, ["after-insert", "settlement-found", "settlement-applied"]),
  ...at("freeze replica", 1_000, ["after-insert", "settlement-staged"]),
  ...at("kill keeper", 1_000, ["after-insert"]),
  ...at("kill shard", 1_000, ["before-insert"]),
  ...at("lose replica", 0, ["after-insert"]),
];

export const EMBEDDED_FAULTS: FaultCatalog = {
  turns: [PROGRAM_KILLS, [...STORE_FAULTS, ...FULL_DISKS, ...BROKEN_VIEWS]],
  more: PROGRAM_KILLS,
};

/** At every point, and somewhere between them. */
const POWER_CUTS: readonly FaultKind[] = [
  ...at("cut power", 0, FAULT_POINTS),
  ...at("cut power", 150, ["before-insert", "after-insert", "settlement-found", "settlement-staged"]),
  ...at("cut power", 3_000, ["before-append", "after-progress", "before-done"]),
  ...at("cut power", 0, BESIDE_FAULT_POINTS),
  ...at("cut power", 1_000, ["erasure-noted", "dead-letter-stored"]),
];

/** A killed program leaves the pages that the kernel holds, and the next power cut takes them. */
export const POWER_FAULTS: FaultCatalog = { turns: [POWER_CUTS], more: [...POWER_CUTS, ...PROGRAM_KILLS] };

const OF_THE_LOG: readonly FaultKind["point"][] = ["after-append", "before-upload-complete", "before-answer"];
/** Of the server alone, also in the middle of an insert, of a settlement, and of what comes after them. */
const SERVER_POWER_CUTS: readonly FaultKind[] = POWER_CUTS.filter(({ point }) => !OF_THE_LOG.includes(point));

/** A program that is killed meanwhile meets the server's second power cut, or its start. */
export const SERVER_POWER_FAULTS: FaultCatalog = {
  turns: [SERVER_POWER_CUTS],
  more: [...SERVER_POWER_CUTS, ...PROGRAM_KILLS],
};

const DEATHS: readonly FaultKind[] = PROGRAM_KILLS.flatMap((kind, index) => [
  kind,
  STORE_FAULTS[index] as FaultKind,
]);

export const KAFKA_FAULTS: FaultCatalog = {
  // The lengths have no factor in common: what comes with one kind in a run comes with another in the next.
  turns: [GROUP_FAULTS, [...DEATHS, ...BROKEN_VIEWS]],
  more: [],
};

/** Without rights: three controllers with an authorizer of their own could not elect a leader on one machine. */
export const THREE_BROKER_FAULTS: FaultCatalog = {
  ...KAFKA_FAULTS,
  turns: KAFKA_FAULTS.turns.map((kinds) => kinds.filter(({ action }) => action !== "refuse group")),
};

const CLUSTER_POWER_CUTS: readonly FaultKind[] = [
  ...at("cut replica", SERVER_AWAY_MS_MAX, [
    "before-insert",
    "after-insert",
    "settlement-found",
    "after-range",
  ]),
  ...at("cut replica", 0, ["after-insert", "after-sync", "after-progress", "settlement-found"]),
  ...at("cut shard", 1_000, ["after-insert", "before-insert", "settlement-found", "after-progress"]),
  ...at("cut replica", 0, ["settlement-staged", "settlement-applied", "before-done"]),
];

export const CLUSTER_POWER_FAULTS: FaultCatalog = { turns: [CLUSTER_POWER_CUTS], more: PROGRAM_KILLS };

/** Views that one seed or another breaks. */
export const VIEWS = [
  "totals_view",
  "uniques_view",
  "event_ids_view",
  "breakdown_values_view",
  "import_events_view",
];
/** For how long inserts fail between the rows and a view while clients are erased. */
export const NO_LONGER_BROKEN_MS = 1_500;

/** Somewhere in the middle of an insert, which takes as long. */
const MID_INSERT_MS = 60;
const SOON_MS = 1_200;

/**
 * A client is erased while its events are imported: the program dies, its ClickHouse, or one soon after the other, mostly in
 * the middle of an insert.
 */
export const ERASURE_FAULTS: FaultCatalog = {
  turns: [
    [
      ...at("kill program", MID_INSERT_MS, ["before-insert", "settlement-staged", "before-insert"]),
      ...at("kill clickhouse", MID_INSERT_MS, ["before-insert", "settlement-staged", "erasure-noted"]),
      ...at("kill program", MID_INSERT_MS, ["before-insert", "erasure-noted", "before-insert"]),
      ...BROKEN_VIEWS,
      ...at("kill program", 0, ["after-insert", "after-progress", "erasure-finished"]),
    ],
  ],
  more: [
    ...at("kill program", 0, ["after-range", "after-sync", "settlement-found", "settlement-applied"]),
    ...at("kill program", SOON_MS, ["before-append", "before-range", "before-done"]),
    ...at("kill clickhouse", SOON_MS, ["before-range", "after-insert"]),
    ...at("kill clickhouse", 0, ["settlement-applied", "erasure-noted"]),
  ],
};

export const CLUSTER_FAULTS: FaultCatalog = {
  // 19 and 15, which have no factor in common either.
  turns: [SERVER_FAULTS, PROGRAM_KILLS],
  more: [],
};
