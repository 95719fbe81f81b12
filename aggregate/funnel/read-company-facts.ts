import type { Shards } from "../../schemas/shards.js";
import type { CompanyFacts, FunnelOwner } from "../../schemas/records/funnel.js";
import { FIRST_DAY } from "../../schemas/date-range.js";
import { putArtifacts, POINTS_PARAMS } from "./put-artifacts.js";
import { readLines } from "./read-lines.js";

export interface OwnerFacts {
  /** Index of the owner in `FactsQuery.owners`. */
  ownerIndex: number;
  facts: CompanyFacts;
}

export interface FactsQuery {
  owners: readonly FunnelOwner[];
  /** `YYYY-MM-DD`; later activity is ignored. */
  today: string;
  signal: AbortSignal;
}

/** Every company with activity, ordered by the index of its owner, then by the bytes of its domain. */
export async function* readCompanyFacts(
  shards: Shards,
  { owners, today, signal }: FactsQuery,
): AsyncGenerator<OwnerFacts> {
  const batch = await putArtifacts(shards, owners);
  if (batch === undefined) return;
  const lastRuns = owners.map(({ lastRunOn }) => lastRunOn ?? FIRST_DAY);
  const params = { batch, today, lastRuns, ...POINTS_PARAMS };
  for await (const row of readLines<FactsRow>(shards, { statement: "company-facts", params, signal }))
    yield ownerFacts(row);
}

/** A row of `company-facts.sql`; 64-bit numbers may be text. */
type FactsRow = [
  ownerIndex: number,
  domain: string,
  name: string,
  score: number,
  downloadDays: number | string,
  viewedLast30Days: number,
  viewedLast60Days: number,
  weeks: number[],
  viewedInConsecutiveWeeks: number,
  active0: number,
  active1: number,
  active2: number,
  downloads: number | string,
  views: number | string,
  recentDownloads: number | string,
  firstSeen: string,
  lastSeen: string,
  past: string,
  pastOfLastRun: string,
];

function ownerFacts(row: FactsRow): OwnerFacts {
  const [ownerIndex, domain, name, score, downloadDays, viewed30, viewed60, , consecutive, ...rest] = row;
  const [active0, active1, active2, downloads, views, recentDownloads, ...about] = rest;
  const [firstSeen, lastSeen, past, pastOfLastRun] = about;
  return {
    ownerIndex,
    facts: {
      domain,
      name,
      score,
      downloadDays: Number(downloadDays),
      viewedLast30Days: Boolean(viewed30),
      viewedLast60Days: Boolean(viewed60),
      viewedInConsecutiveWeeks: Boolean(consecutive),
      activeWindows: [Boolean(active0), Boolean(active1), Boolean(active2)],
      downloads: Number(downloads),
      views: Number(views),
      recentDownloads: Number(recentDownloads),
      firstSeen,
      lastSeen,
      past,
      pastOfLastRun,
    },
  };
}
