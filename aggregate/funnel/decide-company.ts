import type {
  CompanyFacts,
  FunnelCompany,
  StageBefore,
  StageChange,
  StageFacts,
} from "../../schemas/records/funnel.js";
import { classify, isEngaged } from "./classify.js";

export interface Decision {
  /** To be stored; undefined for a company to forget. */
  company: FunnelCompany | undefined;
  change?: StageChange;
}

/**
 * Decides the record and the stage of a company from its stored record (undefined for a new company) and its facts
 * (undefined where it has no activity). At least one of the two is there.
 */
export function decideCompany(stored: FunnelCompany | undefined, facts: CompanyFacts | undefined): Decision {
  const before = stored ?? NEVER_SEEN;
  const about = facts ? seenOf(facts) : goneOf(stored as FunnelCompany);
  const placed = classify(facts ?? NO_ACTIVITY, before);
  const stage = placed?.stage ?? before.stage;
  // No stage was ever announced, and there is no activity to announce one for.
  if (stage === null && facts === undefined) return { company: undefined };
  const engaged = before.engaged || (stage !== null && isEngaged(stage));
  const company = { ...about, stage, engaged };
  if (placed === undefined || placed.stage === before.stage) return { company };
  const { domain, name } = about;
  const { stage: newStage, cause } = placed;
  return { company, change: { domain, name, oldStage: before.stage, newStage, cause } };
}

const NEVER_SEEN: StageBefore = { stage: null, engaged: false };

const NO_ACTIVITY: StageFacts = {
  score: 0,
  downloadDays: 0,
  viewedLast30Days: false,
  viewedLast60Days: false,
  viewedInConsecutiveWeeks: false,
  activeWindows: [false, false, false],
};

type About = Omit<FunnelCompany, keyof StageBefore>;

function seenOf({ domain, name, score, downloads, views, firstSeen, lastSeen }: CompanyFacts): About {
  return { domain, name, score, downloads, views, firstSeen, lastSeen };
}

function goneOf({ domain, name }: FunnelCompany): About {
  return { domain, name, score: 0, downloads: 0, views: 0, firstSeen: null, lastSeen: null };
}
