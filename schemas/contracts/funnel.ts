import { COUNT, DATE, TIMESTAMP, objectOf, titledObject } from "../formats.js";
import type { ArtifactKind } from "../records/artifact.js";
import {
  STAGE_CAUSES,
  STAGES,
  type Stage,
  type StageCause,
  IMPORTANCES,
  type Importance,
} from "../records/funnel.js";
import { compileBody } from "../validate.js";

/** A company's stage and activity with an owner, as returned. Without a stage, no rule has applied yet. */
export interface CompanyRecord {
  domain: string;
  name: string;
  stage?: Stage;
  since?: string;
  score: number;
  downloads: number;
  views: number;
  first_seen?: string;
  last_seen?: string;
  downloads_30_days: number;
  /** Of the days that were asked for, the latest last. */
  daily_downloads?: number[];
}

export interface CompanyDay {
  date: string;
  downloads: number;
  views: number;
}

export interface StageChangeRecord {
  /** Absent for the first stage. */
  old_stage?: Stage;
  new_stage: Stage;
  cause: StageCause;
  changed_at: string;
}

export interface CompanyArtifact {
  kind: ArtifactKind;
  id: string;
  name: string;
  downloads: number;
  views: number;
}

export interface CompanyDetail extends CompanyRecord {
  stage_history: StageChangeRecord[];
  days: CompanyDay[];
  /** The artifacts used in the same range as `days`, the most used first. */
  artifacts: CompanyArtifact[];
}

export const STAGE = { type: "string", enum: STAGES } as const;

const COMPANY_FIELDS = {
  domain: { type: "string" },
  name: { type: "string" },
  stage: STAGE,
  since: TIMESTAMP,
  score: { type: "number", minimum: 0, maximum: 70 },
  downloads: COUNT,
  views: COUNT,
  first_seen: DATE,
  last_seen: DATE,
  downloads_30_days: { ...COUNT, description: "Score for the last 30 days, including today" },
} as const;
const COMPANY_REQUIRED = ["domain", "name", "score", "downloads", "views", "downloads_30_days"] as const;

export const COMPANY = titledObject("Company", COMPANY_REQUIRED, {
  ...COMPANY_FIELDS,
  daily_downloads: {
    type: "array",
    items: COUNT,
    description: "Downloads on each of the last `days` days, oldest first. Absent if `days` was not given",
  },
});

export const COMPANY_LIST = titledObject("CompanyList", ["companies"], {
  as_of: TIMESTAMP,
  companies: { type: "array", items: COMPANY },
  next: { type: "string", format: "uri" },
});

const STAGE_CHANGE = titledObject("StageChange", ["new_stage", "cause", "changed_at"], {
  old_stage: STAGE,
  new_stage: STAGE,
  cause: { type: "string", enum: STAGE_CAUSES },
  changed_at: TIMESTAMP,
});

const COMPANY_DAY = titledObject("CompanyDay", ["date", "downloads", "views"], {
  date: DATE,
  downloads: COUNT,
  views: COUNT,
});

const COMPANY_ARTIFACT = objectOf(["kind", "id", "name", "downloads", "views"], {
  kind: { type: "string", enum: ["package", "pixel"] },
  id: { type: "string", format: "uuid" },
  name: { type: "string" },
  downloads: COUNT,
  views: COUNT,
});

export const COMPANY_DETAIL = titledObject(
  "CompanyDetail",
  [...COMPANY_REQUIRED, "stage_history", "days", "artifacts"],
  {
    ...COMPANY_FIELDS,
    stage_history: { type: "array", items: STAGE_CHANGE },
    days: { type: "array", items: COMPANY_DAY },
    artifacts: { type: "array", items: COMPANY_ARTIFACT },
  },
);

export type StageCounts = Record<Stage, number>;

export interface FunnelRecord {
  /** The time of the last funnel run; absent if there was none. */
  as_of?: string;
  stages: StageCounts;
  days: { date: string; stages: StageCounts }[];
}

const STAGE_COUNTS = titledObject(
  "StageCounts",
  STAGES,
  Object.fromEntries(STAGES.map((stage) => [stage, COUNT])),
);

/** The outcome of a run of the funnel for one owner. */
export interface FunnelRunRecord {
  as_of: string;
  companies: number;
  changes: number;
  /** Nothing was computed, because imports are running. */
  waits_for_imports: boolean;
}

export const FUNNEL_RUN = titledObject("FunnelRun", ["as_of", "companies", "changes", "waits_for_imports"], {
  as_of: TIMESTAMP,
  companies: COUNT,
  changes: { ...COUNT, description: "Stage changes" },
  waits_for_imports: { type: "boolean", description: "Nothing was computed because imports are running" },
});

export const FUNNEL = titledObject("Funnel", ["stages", "days"], {
  as_of: TIMESTAMP,
  stages: STAGE_COUNTS,
  days: {
    type: "array",
    items: objectOf(["date", "stages"], { date: DATE, stages: STAGE_COUNTS }),
  },
});

/** The importance of each package and pixel of an owner. As sent, each id may be a name. */
export interface FunnelImportance {
  packages: ArtifactImportance[];
  pixels: ArtifactImportance[];
}

export interface ArtifactImportance {
  id: string;
  importance: Importance;
}

const importanceOf = <Id>(title: string, id: Id) =>
  ({
    type: "array",
    maxItems: 10_000,
    items: titledObject(title, ["id", "importance"], {
      id,
      importance: { type: "string", enum: IMPORTANCES },
    }),
  }) as const;

const ITEMS = importanceOf("ArtifactImportance", { type: "string", format: "uuid" } as const);

export const FUNNEL_IMPORTANCE = titledObject("FunnelImportance", ["packages", "pixels"], {
  packages: ITEMS,
  pixels: ITEMS,
});

const ITEMS_SENT = importanceOf("ArtifactImportanceUpsert", {
  type: "string",
  minLength: 1,
  maxLength: 256,
  description: "Id, or name if it is unique",
} as const);

export const FUNNEL_IMPORTANCE_UPSERT = {
  ...FUNNEL_IMPORTANCE,
  title: "FunnelImportanceUpsert",
  properties: { packages: ITEMS_SENT, pixels: ITEMS_SENT },
} as const;

export const parseFunnelImportance = compileBody<FunnelImportance>(FUNNEL_IMPORTANCE_UPSERT);
