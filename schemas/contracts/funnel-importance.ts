import { IMPORTANCES, type Importance } from "../records/funnel.js";
import { compileBody } from "../validate.js";

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
