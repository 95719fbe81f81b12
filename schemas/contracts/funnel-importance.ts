import { IMPORTANCES, type Importance } from "../records/funnel.js";
import type { FieldFault } from "../problem.js";
import { compileBody } from "../validate.js";

/** The importance of each package and pixel of an owner, as sent and as returned. */
export interface FunnelImportance {
  packages: ArtifactImportance[];
  pixels: ArtifactImportance[];
}

export interface ArtifactImportance {
  /** UUID. */
  id: string;
  importance: Importance;
}

const ITEMS = {
  type: "array",
  maxItems: 10_000,
  items: {
    title: "ArtifactImportance",
    type: "object",
    required: ["id", "importance"],
    additionalProperties: false,
    properties: {
      id: { type: "string", format: "uuid" },
      importance: { type: "string", enum: IMPORTANCES },
    },
  },
} as const;

export const FUNNEL_IMPORTANCE = {
  title: "FunnelImportance",
  type: "object",
  required: ["packages", "pixels"],
  additionalProperties: false,
  properties: { packages: ITEMS, pixels: ITEMS },
} as const;

/** Throws `invalid-body` naming every fault. Ids become lower case. */
export function parseFunnelImportance(body: unknown): FunnelImportance {
  const { packages, pixels } = parse(body);
  return { packages: packages.map(inLowerCase), pixels: pixels.map(inLowerCase) };
}

const parse = compileBody<FunnelImportance>(FUNNEL_IMPORTANCE, (sound) => [
  ...repeated("packages", sound.packages),
  ...repeated("pixels", sound.pixels),
]);

function inLowerCase({ id, importance }: ArtifactImportance): ArtifactImportance {
  return { id: id.toLowerCase(), importance };
}

function repeated(field: string, items: readonly ArtifactImportance[] = []): FieldFault[] {
  const named = new Set<string>();
  return items.flatMap(({ id }, index) => {
    const isNamed = named.has(id.toLowerCase());
    named.add(id.toLowerCase());
    return isNamed ? [{ path: `/${field}/${index}/id`, message: "is named twice" }] : [];
  });
}
