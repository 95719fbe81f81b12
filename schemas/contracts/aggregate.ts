import { BREAKDOWN_LIST, type BreakdownDeclaration } from "./breakdowns.js";

type Declared = (typeof BREAKDOWN_LIST)[number];

/** The name of a breakdown on the wire. */
export type Breakdown = Declared["name"];

export const BREAKDOWNS: readonly Breakdown[] = BREAKDOWN_LIST.map(({ name }) => name);

type ValueField = Extract<Declared, { values: unknown }>["values"][number]["field"];
type AddressField = Extract<Declared, { addressField: unknown }>["addressField"];

/** One line of an aggregates export. Fields of other breakdowns are absent. */
export type AggregateV1 = {
  breakdown: Breakdown;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** UUID of the package. */
  package: string;
  total: number;
} & { [field in ValueField]?: string } & { [field in AddressField]?: number };

/** The JSON schema of a line with the fields of these breakdowns. */
export function aggregateSchema(breakdowns: readonly BreakdownDeclaration[]) {
  return {
    title: "AggregateV1",
    type: "object",
    required: ["breakdown", "date", "package", "total"],
    additionalProperties: false,
    properties: {
      breakdown: { type: "string", enum: breakdowns.map(({ name }) => name) },
      date: { type: "string", format: "date", description: "A UTC day" },
      package: { type: "string", format: "uuid" },
      total: { type: "integer", minimum: 1, description: "Downloads or pulls" },
      ...Object.fromEntries(breakdowns.flatMap(fieldsOf)),
    },
  } as const;
}

export const AGGREGATE_V1 = aggregateSchema(BREAKDOWN_LIST);

function fieldsOf(breakdown: BreakdownDeclaration): [field: string, schema: object][] {
  if ("addressField" in breakdown) {
    const description = `Distinct client addresses; in \`${breakdown.name}\` only`;
    return [[breakdown.addressField, { type: "integer", minimum: 0, description }]];
  }
  return breakdown.values.map(({ field, description }) => [
    field,
    { type: "string", ...(description !== undefined && { description }) },
  ]);
}
