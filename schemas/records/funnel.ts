import type { ArtifactKind } from "./artifact.js";

/** In the order of adoption. A company becomes `inactive` from any stage but the first. */
export const STAGES = ["interest", "investigation", "experimentation", "ongoing-usage", "inactive"] as const;
export type Stage = (typeof STAGES)[number];

export const IMPORTANCES = ["low", "medium", "high"] as const;
export type Importance = (typeof IMPORTANCES)[number];

/** The rule that put a company at a stage. */
export const STAGE_CAUSES = [
  "view",
  "download",
  "score",
  "views-in-consecutive-weeks",
  "downloads-and-view",
  "activity-in-three-windows",
  "no-activity",
] as const;
export type StageCause = (typeof STAGE_CAUSES)[number];

/** The input of the stage rules: a company's activity up to a day. `score` is its points of the last 30 days. */
export interface StageFacts {
  score: number;
  /** Days with a download, among the last 30. */
  downloadDays: number;
  viewedLast30Days: boolean;
  viewedLast60Days: boolean;
  /** In the last 60 days; weeks begin on Monday. */
  viewedInConsecutiveWeeks: boolean;
  /** Whether there was activity in the last 30 days, in the 30 before, and in the 30 before those. */
  activeWindows: readonly [boolean, boolean, boolean];
}

export interface CompanyFacts extends StageFacts {
  domain: string;
  name: string;
  downloads: number;
  views: number;
  /** In the last 30 days. */
  recentDownloads: number;
  firstSeen: string;
  lastSeen: string;
  /** A hash of its days before the day of the run; "0" without any. */
  past: string;
  /** The same of its days before the day of the owner's last run. */
  pastOfLastRun: string;
}

/** A day of a company's activity with an owner; points are at most those of a day. */
export interface ActiveDay {
  date: string;
  downloads: number;
  views: number;
  downloadPoints: number;
  viewPoints: number;
}

export interface StageBefore {
  stage: Stage | null;
  /** Whether the company was ever at investigation or higher. */
  engaged: boolean;
}

/** A company as stored. Without any activity it has no days. */
export interface FunnelCompany extends StageBefore {
  domain: string;
  name: string;
  score: number;
  downloads: number;
  views: number;
  recentDownloads: number;
  firstSeen: string | null;
  lastSeen: string | null;
  past: string;
  /** Whether its days before the first announcement are to be computed anew. */
  isDue: boolean;
  /** Whether a stage of it was announced. Days from then on stay as they were announced. */
  isAnnounced: boolean;
}

export interface StageChange {
  domain: string;
  name: string;
  /** Null the first time. */
  oldStage: Stage | null;
  newStage: Stage;
  cause: StageCause;
}

export interface FunnelArtifact {
  id: string;
  kind: ArtifactKind;
  importance: Importance;
}

/** A change on a day of the past, which is not announced. */
export interface PastChange {
  date: string;
  newStage: Stage;
  cause: StageCause;
}

/** A company whose days before `until` are to be computed. */
export interface DueCompany {
  domain: string;
  past: string;
  until: string;
}

export interface CompanyPast extends DueCompany {
  changes: readonly PastChange[];
}

export interface FunnelOwner {
  id: string;
  /** The day of its last run, if there was one. */
  lastRunOn?: string | null;
  artifacts: readonly FunnelArtifact[];
}

/** A range of an owner's companies, by the byte order of their domains. */
export interface DomainRange {
  /** Exclusive; absent to begin with the first. */
  after?: string | undefined;
  /** Inclusive; absent to end with the last. */
  through?: string | undefined;
}

export interface FunnelTransaction {
  companiesIn(range: DomainRange): Promise<FunnelCompany[]>;
  /** Sets `since` to the time of the run for companies in `changes`. */
  putCompanies(companies: readonly FunnelCompany[]): Promise<void>;
  removeCompanies(domains: readonly string[]): Promise<void>;
  putChanges(changes: readonly StageChange[]): Promise<void>;
  /** Sends up to 100 changes to the owner's webhooks. */
  announce(changes: readonly StageChange[]): Promise<void>;
}
