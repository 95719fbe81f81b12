import type { ArtifactKind } from "./artifact.js";

/** In the order of adoption; a company leaves for `inactive` from any but the first. */
export const STAGES = ["interest", "investigation", "experimentation", "ongoing-usage", "inactive"] as const;
export type Stage = (typeof STAGES)[number];

/** How much a package or pixel matters to its owner. */
export const IMPORTANCES = ["low", "medium", "high"] as const;
export type Importance = (typeof IMPORTANCES)[number];

/** The rule that brought a company to a stage. */
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

/** What the rules for stages ask of a company's activity up to a day; `score` is its points of the last 30 days. */
export interface StageFacts {
  score: number;
  /** Different days with a download, of the last 30. */
  downloadDays: number;
  viewedLast30Days: boolean;
  viewedLast60Days: boolean;
  /** In the last 60 days; weeks begin on Monday. */
  viewedInConsecutiveWeeks: boolean;
  /** Whether anything happened in the last 30 days, in the 30 before, and in the 30 before those. */
  activeWindows: readonly [boolean, boolean, boolean];
}

/** Where a company stands with one owner, from all activity up to a day. */
export interface CompanyFacts extends StageFacts {
  domain: string;
  name: string;
  downloads: number;
  views: number;
  /** `YYYY-MM-DD`. */
  firstSeen: string;
  lastSeen: string;
}

/** What was decided of a company before. */
export interface StageBefore {
  stage: Stage | null;
  /** Whether it ever was at investigation or higher. */
  engaged: boolean;
}

/** A company as it is kept. Without any activity left there are no days. */
export interface FunnelCompany extends StageBefore {
  domain: string;
  name: string;
  score: number;
  downloads: number;
  views: number;
  firstSeen: string | null;
  lastSeen: string | null;
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

/** An owner and all packages and pixels there are of theirs; none where only companies are left. */
export interface FunnelOwner {
  id: string;
  artifacts: readonly FunnelArtifact[];
}

/** The companies of an owner from one domain to another, in the order of their bytes. */
export interface DomainRange {
  /** Exclusive; absent from the first on. */
  after?: string | undefined;
  /** Inclusive; absent to the last. */
  through?: string | undefined;
}

/** What a run of the funnel keeps. */
export interface FunnelStore {
  /** The owners that have artifacts or companies, in the order of their ids; `after` is the id of the last one seen. */
  ownersAfter(after: string | undefined, limit: number): Promise<FunnelOwner[]>;
  /**
   * Does `work` in one transaction, alone of all that would for this owner: all that it puts is there afterwards, or
   * nothing. Not done when companies of the owner were looked at as of a later time already, or when an import was
   * under way since `ownersAfter` answered: what it overrides counts twice until it is settled. Nobody waits for
   * imports for longer than a day.
   */
  inOwnerTransaction(
    about: { ownerId: string; asOf: Date },
    work: (owner: FunnelTransaction) => Promise<void>,
  ): Promise<"done" | "later" | "importing">;
}

/** Inside the transaction of one owner. */
export interface FunnelTransaction {
  /** Those that are kept in the range, by domain. */
  companiesIn(range: DomainRange): Promise<FunnelCompany[]>;
  /** `since` moves to the time of the run for those in `changes`. */
  putCompanies(companies: readonly FunnelCompany[]): Promise<void>;
  removeCompanies(domains: readonly string[]): Promise<void>;
  putChanges(changes: readonly StageChange[]): Promise<void>;
  /** Tells the owner's systems of up to 100 changes. */
  announce(changes: readonly StageChange[]): Promise<void>;
}
