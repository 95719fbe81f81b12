import type {
  CompanyFacts,
  FunnelCompany,
  StageBefore,
  StageChange,
  StageFacts,
  Stage,
  StageCause,
  Importance,
} from "../../schemas/records/funnel.js";
import type { ArtifactKind } from "../../schemas/records/artifact.js";

export interface Decision {
  /** To be stored; undefined for a company to forget. */
  company: FunnelCompany | undefined;
  change?: StageChange;
}

/**
 * `stored` is undefined for a new company, `facts` for one without activity. At least one of the two is
 * there.
 */
export function decideCompany(stored: FunnelCompany | undefined, facts: CompanyFacts | undefined): Decision {
  const known = stored ?? { ...NEVER_SEEN, past: NO_PAST, isDue: false, isAnnounced: false };
  const isDue = known.isDue || known.past !== pastOf(facts, known);
  // A stage that comes from the past alone counts for nothing once the past is another.
  const before = isDue && !known.isAnnounced ? NEVER_SEEN : known;
  const about = facts ? seenOf(facts) : goneOf(stored as FunnelCompany);
  const placed = classify(facts ?? NO_ACTIVITY, before);
  const stage = placed?.stage ?? known.stage;
  // No stage was ever announced, and there is no activity to announce one for.
  if (stage === null && facts === undefined) return { company: undefined };
  const engaged = known.engaged || (stage !== null && isEngaged(stage));
  const company = { ...about, stage, engaged, isDue, isAnnounced: known.isAnnounced };
  if (placed === undefined || placed.stage === known.stage) return { company };
  const { domain, name } = about;
  const { stage: newStage, cause } = placed;
  const change = { domain, name, oldStage: known.stage, newStage, cause };
  return { company: { ...company, isAnnounced: true }, change };
}

/** The days of the past that are compared: new ones count as long as no run has announced the company. */
function pastOf(facts: CompanyFacts | undefined, { isAnnounced }: { isAnnounced: boolean }): string {
  if (facts === undefined) return NO_PAST;
  return isAnnounced ? facts.pastOfLastRun : facts.past;
}

const NO_PAST = "0";

export const NEVER_SEEN: StageBefore = { stage: null, engaged: false };

const NO_ACTIVITY: StageFacts = {
  score: 0,
  downloadDays: 0,
  viewedLast30Days: false,
  viewedLast60Days: false,
  viewedInConsecutiveWeeks: false,
  activeWindows: [false, false, false],
};

type About = Omit<FunnelCompany, keyof StageBefore | "isDue" | "isAnnounced">;

function seenOf({ domain, name, score, downloads, views, ...facts }: CompanyFacts): About {
  const { recentDownloads, firstSeen, lastSeen, past } = facts;
  return { domain, name, score, downloads, views, recentDownloads, firstSeen, lastSeen, past };
}

function goneOf({ domain, name }: FunnelCompany): About {
  const counts = { score: 0, downloads: 0, views: 0, recentDownloads: 0 };
  return { domain, name, ...counts, firstSeen: null, lastSeen: null, past: NO_PAST };
}

export interface StageDecision {
  stage: Stage;
  cause: StageCause;
}

/**
 * Rules of later stages come first. Undefined where none applies: the company keeps its stage. Its downloads
 * are 30 to 59 days old, or it left after mere interest.
 */
export function classify(facts: StageFacts, before: StageBefore): StageDecision | undefined {
  for (const { stage, cause, applies } of RULES) if (applies(facts, before)) return { stage, cause };
  return undefined;
}

export function isEngaged(stage: Stage): boolean {
  return stage === "investigation" || stage === "experimentation" || stage === "ongoing-usage";
}

interface Rule extends StageDecision {
  applies: (facts: StageFacts, before: StageBefore) => boolean;
}

/** `inactive` asks for the highest stage ever: most companies fall back to interest before they leave. */
const RULES: readonly Rule[] = [
  {
    stage: "inactive",
    cause: "no-activity",
    applies: ({ activeWindows: [last, before] }, { engaged }) => engaged && !last && !before,
  },
  { stage: "ongoing-usage", cause: "score", applies: ({ score }) => score >= 70 },
  {
    stage: "ongoing-usage",
    cause: "activity-in-three-windows",
    applies: ({ activeWindows, downloadDays }) => activeWindows.every(Boolean) && downloadDays > 0,
  },
  { stage: "experimentation", cause: "score", applies: ({ score }) => score >= 40 },
  {
    stage: "experimentation",
    cause: "downloads-and-view",
    applies: ({ downloadDays, viewedLast30Days }) => downloadDays >= 2 && viewedLast30Days,
  },
  { stage: "investigation", cause: "score", applies: ({ score }) => score > 10 },
  { stage: "investigation", cause: "download", applies: ({ downloadDays }) => downloadDays > 0 },
  {
    stage: "investigation",
    cause: "views-in-consecutive-weeks",
    applies: ({ viewedInConsecutiveWeeks }) => viewedInConsecutiveWeeks,
  },
  { stage: "interest", cause: "view", applies: ({ viewedLast60Days }) => viewedLast60Days },
];

/** For one download of a package, and for one view of a pixel. */
export const POINTS: Readonly<Record<ArtifactKind, Readonly<Record<Importance, number>>>> = {
  package: { low: 2, medium: 5, high: 8 },
  pixel: { low: 0.25, medium: 0.5, high: 1 },
};

/**
 * For all packages or all pixels of an owner. Together they are 70, the score of ongoing usage; importance
 * decides how soon they are reached.
 */
export const POINTS_MAX = {
  package: { day: 10, window: 50 },
  pixel: { day: 3, window: 20 },
} as const;
