import type { Stage, StageBefore, StageCause, StageFacts } from "../../schemas/records/funnel.js";

export interface StageDecision {
  stage: Stage;
  /** The rule that decided it. */
  cause: StageCause;
}

/**
 * The stage that a company belongs to; rules of later stages come first. Undefined where no rule applies: the company
 * keeps its stage. That is a company whose downloads are 30 to 59 days old, or one that left after mere interest.
 */
export function classify(facts: StageFacts, before: StageBefore): StageDecision | undefined {
  for (const { stage, cause, applies } of RULES) if (applies(facts, before)) return { stage, cause };
  return undefined;
}

/** Whether a stage is investigation or higher. */
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
