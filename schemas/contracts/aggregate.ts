/** The breakdowns of AggregateV1, as on the wire. */
export const BREAKDOWNS = [
  "company",
  "cloud_provider",
  "country",
  "platform",
  "version",
  "client",
  "variable",
  "total",
] as const;

export type Breakdown = (typeof BREAKDOWNS)[number];

/** One line of an aggregates export. Fields of other breakdowns are absent. */
export interface AggregateV1 {
  breakdown: Breakdown;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  /** UUID of the package. */
  package: string;
  total: number;
  company_name?: string;
  company_domain?: string;
  cloud_provider_name?: string;
  cloud_provider_domain?: string;
  country?: string;
  platform?: string;
  version?: string;
  client?: string;
  client_version?: string;
  variable?: string;
  value?: string;
  unique_total?: number;
}

const TEXT = { type: "string" } as const;

export const AGGREGATE_V1 = {
  title: "AggregateV1",
  type: "object",
  required: ["breakdown", "date", "package", "total"],
  additionalProperties: false,
  properties: {
    breakdown: { type: "string", enum: BREAKDOWNS },
    date: { type: "string", format: "date", description: "A UTC day" },
    package: { type: "string", format: "uuid" },
    total: { type: "integer", minimum: 1, description: "Downloads or pulls" },
    company_name: TEXT,
    company_domain: TEXT,
    cloud_provider_name: TEXT,
    cloud_provider_domain: TEXT,
    country: TEXT,
    platform: TEXT,
    version: { ...TEXT, description: "Docker packages only" },
    client: TEXT,
    client_version: TEXT,
    variable: { ...TEXT, description: "Name of a variable; file packages only" },
    value: { ...TEXT, description: "The variable's value" },
    unique_total: { type: "integer", minimum: 0, description: "Distinct client addresses; in `total` only" },
  },
} as const;
