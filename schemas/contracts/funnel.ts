import { COUNT, DATE, TIMESTAMP } from "../formats.js";
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
}

export interface CompanyDay {
  /** `YYYY-MM-DD`. */
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

/** A package or pixel that a company used. */
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
} as const;
const COMPANY_REQUIRED = ["domain", "name", "score", "downloads", "views"] as const;

export const COMPANY = {
  title: "Company",
  type: "object",
  required: COMPANY_REQUIRED,
  additionalProperties: false,
  properties: COMPANY_FIELDS,
} as const;

export const COMPANY_LIST = {
  title: "CompanyList",
  type: "object",
  required: ["companies"],
  additionalProperties: false,
  properties: {
    as_of: TIMESTAMP,
    companies: { type: "array", items: COMPANY },
    next: { type: "string", format: "uri" },
  },
} as const;

const STAGE_CHANGE = {
  title: "StageChange",
  type: "object",
  required: ["new_stage", "cause", "changed_at"],
  additionalProperties: false,
  properties: {
    old_stage: STAGE,
    new_stage: STAGE,
    cause: { type: "string", enum: STAGE_CAUSES },
    changed_at: TIMESTAMP,
  },
} as const;

const COMPANY_DAY = {
  title: "CompanyDay",
  type: "object",
  required: ["date", "downloads", "views"],
  additionalProperties: false,
  properties: { date: DATE, downloads: COUNT, views: COUNT },
} as const;

const COMPANY_ARTIFACT = {
  type: "object",
  required: ["kind", "id", "name", "downloads", "views"],
  additionalProperties: false,
  properties: {
    kind: { type: "string", enum: ["package", "pixel"] },
    id: { type: "string", format: "uuid" },
    name: { type: "string" },
    downloads: COUNT,
    views: COUNT,
  },
} as const;

export const COMPANY_DETAIL = {
  title: "CompanyDetail",
  type: "object",
  required: [...COMPANY_REQUIRED, "stage_history", "days", "artifacts"],
  additionalProperties: false,
  properties: {
    ...COMPANY_FIELDS,
    stage_history: { type: "array", items: STAGE_CHANGE },
    days: { type: "array", items: COMPANY_DAY },
    artifacts: { type: "array", items: COMPANY_ARTIFACT },
  },
} as const;

/** Companies by stage. */
export type StageCounts = Record<Stage, number>;

export interface FunnelRecord {
  /** The time of the last funnel run; absent if there was none. */
  as_of?: string;
  stages: StageCounts;
  days: { date: string; stages: StageCounts }[];
}

const STAGE_COUNTS = {
  title: "StageCounts",
  type: "object",
  required: STAGES,
  additionalProperties: false,
  properties: Object.fromEntries(STAGES.map((stage) => [stage, COUNT])),
} as const;

/** The outcome of a run of the funnel for one owner. */
export interface FunnelRunRecord {
  as_of: string;
  companies: number;
  changes: number;
  /** Nothing was computed, because imports are running. */
  waits_for_imports: boolean;
}

export const FUNNEL_RUN = {
  title: "FunnelRun",
  type: "object",
  required: ["as_of", "companies", "changes", "waits_for_imports"],
  additionalProperties: false,
  properties: {
    as_of: TIMESTAMP,
    companies: COUNT,
    changes: { ...COUNT, description: "Changes of stage" },
    waits_for_imports: { type: "boolean", description: "Nothing was computed, because imports are running" },
  },
} as const;

export const FUNNEL = {
  title: "Funnel",
  type: "object",
  required: ["stages", "days"],
  additionalProperties: false,
  properties: {
    as_of: TIMESTAMP,
    stages: STAGE_COUNTS,
    days: {
      type: "array",
      items: {
        type: "object",
        required: ["date", "stages"],
        additionalProperties: false,
        properties: { date: DATE, stages: STAGE_COUNTS },
      },
    },
  },
} as const;

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
    items: {
      title,
      type: "object",
      required: ["id", "importance"],
      additionalProperties: false,
      properties: { id, importance: { type: "string", enum: IMPORTANCES } },
    },
  }) as const;

const ITEMS = importanceOf("ArtifactImportance", { type: "string", format: "uuid" } as const);

export const FUNNEL_IMPORTANCE = {
  title: "FunnelImportance",
  type: "object",
  required: ["packages", "pixels"],
  additionalProperties: false,
  properties: { packages: ITEMS, pixels: ITEMS },
} as const;

const ITEMS_SENT = importanceOf("ArtifactImportanceUpsert", {
  type: "string",
  minLength: 1,
  description: "Its id, or its name where no other has it",
} as const);

export const FUNNEL_IMPORTANCE_UPSERT = {
  ...FUNNEL_IMPORTANCE,
  title: "FunnelImportanceUpsert",
  properties: { packages: ITEMS_SENT, pixels: ITEMS_SENT },
} as const;

/** Throws `invalid-body` naming every fault. */
export const parseFunnelImportance = compileBody<FunnelImportance>(FUNNEL_IMPORTANCE_UPSERT);
