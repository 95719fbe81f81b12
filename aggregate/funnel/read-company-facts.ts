import { randomUUID } from "node:crypto";
import type { Shards } from "../../schemas/shards.js";
import type { CompanyFacts, FunnelOwner } from "../../schemas/records/funnel.js";
import { openRows } from "../queries/open-rows.js";
import { readQuery } from "../read-query.js";
import { POINTS, POINTS_MAX } from "./decide-company.js";

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
  const batch = randomUUID();
  const rows = owners.flatMap(({ artifacts }, ownerIndex) =>
    artifacts.map(({ id, kind, importance }) => ({
      batch,
      artifact: id,
      place: ownerIndex,
      points: POINTS[kind][importance],
    })),
  );
  if (rows.length === 0) return;
  // On one shard alone: it is joined with the rows of all shards, and a second copy would count each point twice.
  await shards.all.insert({
    table: shards.own("funnel_artifacts"),
    columns: ["batch", "artifact", "place", "points"],
    values: rows,
    format: "JSONEachRow",
    clickhouse_settings: {
      async_insert: 0,
      wait_end_of_query: 1,
      insert_deduplicate: 1,
      insert_deduplication_token: `funnel:${batch}`,
    },
  });
  await shards.catchUp(["funnel_artifacts", "company_activity"]);
  const params = {
    batch,
    today,
    downloadPointsDayMax: POINTS_MAX.package.day,
    downloadPointsMax: POINTS_MAX.package.window,
    viewPointsDayMax: POINTS_MAX.pixel.day,
    viewPointsMax: POINTS_MAX.pixel.window,
  };
  const bytes = await openRows(shards.all, {
    query: await readQuery("funnel/company-facts"),
    params,
    signal,
  });
  for await (const line of linesOf(bytes)) yield ownerFacts(JSON.parse(line) as FactsRow);
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
  firstSeen: string,
  lastSeen: string,
];

function ownerFacts(row: FactsRow): OwnerFacts {
  const [ownerIndex, domain, name, score, downloadDays, viewed30, viewed60, , consecutive, ...rest] = row;
  const [active0, active1, active2, downloads, views, firstSeen, lastSeen] = rest;
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
      firstSeen,
      lastSeen,
    },
  };
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer[] = [];
  for await (const part of bytes) {
    const end = part.lastIndexOf(NEWLINE);
    if (end < 0) {
      held.push(Buffer.from(part));
      continue;
    }
    const lines = Buffer.concat([...held, part.subarray(0, end)]).toString();
    held = [Buffer.from(part.subarray(end + 1))];
    yield* lines.split("\n");
  }
}

const NEWLINE = 0x0a;
