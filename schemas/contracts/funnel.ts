import type { FromSchema } from "json-schema-to-ts";
import { COUNT, DATE, TIMESTAMP, objectOf, recordOf, titledObject } from "../formats.js";
import { IMPORTANCES, STAGE_CAUSES, STAGES } from "../records/funnel.js";
import { compileBody } from "../validate.js";

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
  downloads_30_days: { ...COUNT, description: "Downloads of the last 30 days, including today" },
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
/** A company's stage and activity with an owner, as returned. Without a stage, no rule has applied yet. */
export type CompanyRecord = FromSchema<typeof COMPANY>;

export const COMPANY_LIST = titledObject("CompanyList", ["companies"], {
  as_of: TIMESTAMP,
  companies: { type: "array", items: COMPANY },
  next: { type: "string", format: "uri" },
});

const STAGE_CHANGE = titledObject("StageChange", ["new_stage", "cause", "changed_at"], {
  old_stage: { ...STAGE, description: "Previous stage. Absent if this is the first one" },
  new_stage: STAGE,
  cause: { type: "string", enum: STAGE_CAUSES },
  changed_at: TIMESTAMP,
});
export type StageChangeRecord = FromSchema<typeof STAGE_CHANGE>;

const COMPANY_DAY = titledObject("CompanyDay", ["date", "downloads", "views"], {
  date: DATE,
  downloads: COUNT,
  views: COUNT,
});
export type CompanyDay = FromSchema<typeof COMPANY_DAY>;

const COMPANY_ARTIFACT = objectOf(["kind", "id", "name", "downloads", "views"], {
  kind: { type: "string", enum: ["package", "pixel"] },
  id: { type: "string", format: "uuid" },
  name: { type: "string" },
  downloads: COUNT,
  views: COUNT,
});
export type CompanyArtifact = FromSchema<typeof COMPANY_ARTIFACT>;

export const COMPANY_DETAIL = titledObject(
  "CompanyDetail",
  [...COMPANY_REQUIRED, "stage_history", "days", "artifacts"],
  {
    ...COMPANY_FIELDS,
    stage_history: { type: "array", items: STAGE_CHANGE },
    days: { type: "array", items: COMPANY_DAY },
    artifacts: {
      type: "array",
      items: COMPANY_ARTIFACT,
      description: "Packages and pixels used in the range of `days`, most used first",
    },
  },
);
export type CompanyDetail = FromSchema<typeof COMPANY_DETAIL>;

const STAGE_COUNTS = titledObject("StageCounts", STAGES, recordOf(STAGES, COUNT));
export type StageCounts = FromSchema<typeof STAGE_COUNTS>;

export const FUNNEL_RUN = titledObject("FunnelRun", ["as_of", "companies", "changes", "waits_for_imports"], {
  as_of: TIMESTAMP,
  companies: COUNT,
  changes: { ...COUNT, description: "Number of stage changes" },
  waits_for_imports: {
    type: "boolean",
    description: "True if nothing was computed because imports are running",
  },
});
/** The outcome of a run of the funnel for one owner. */
export type FunnelRunRecord = FromSchema<typeof FUNNEL_RUN>;

export const FUNNEL = titledObject("Funnel", ["stages", "days"], {
  as_of: { ...TIMESTAMP, description: "Time of the last funnel run. Absent if there was none" },
  stages: STAGE_COUNTS,
  days: {
    type: "array",
    items: objectOf(["date", "stages"], { date: DATE, stages: STAGE_COUNTS }),
  },
});
export type FunnelRecord = FromSchema<typeof FUNNEL>;

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
export type ArtifactImportance = FromSchema<typeof ITEMS.items>;

export const FUNNEL_IMPORTANCE = titledObject("FunnelImportance", ["packages", "pixels"], {
  packages: ITEMS,
  pixels: ITEMS,
});
/** The importance of each package and pixel of an owner. As sent, each id may be a name. */
export type FunnelImportance = FromSchema<typeof FUNNEL_IMPORTANCE>;

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
