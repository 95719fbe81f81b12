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
