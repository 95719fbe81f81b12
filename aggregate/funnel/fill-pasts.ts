import type { Shards } from "../../schemas/shards.js";
import type { ActiveDay, CompanyPast, DueCompany, FunnelOwner } from "../../schemas/records/funnel.js";
import { POINTS_PARAMS, putArtifacts } from "./put-artifacts.js";
import { readLines } from "./read-lines.js";
import { replayDays } from "./replay-days.js";

const OWNERS_AT_ONCE = 100;
/** Companies of one query and one transaction. Their domains travel in a parameter, of which a server takes 128 KiB. */
const COMPANIES_AT_ONCE = 200;
/** Of an owner, in one run. The next run goes on with the rest. */
const COMPANIES_MAX = 10_000;

/** Statements of api/features/companies/funnel-pasts.ts. */
export interface PastStore {
  /** Owners with companies whose past is to be computed, in the order of their ids. */
  dueOwnersAfter(after: string | undefined, limit: number): Promise<FunnelOwner[]>;
  dueCompanies(ownerId: string, page: { after: string | undefined; limit: number }): Promise<DueCompany[]>;
  /** Companies that changed since `dueCompanies` answered stay due. False, and nothing is put, while imports run. */
  putPasts(ownerId: string, pasts: readonly CompanyPast[]): Promise<boolean>;
}

/**
 * Computes the stages of the days before companies were first announced, and announces nothing. Every transaction leaves
 * fewer companies due, so that a killed run is continued by the next one. Answers how many companies were computed.
 */
export async function fillPasts(
  shards: Shards,
  { pasts: store, signal }: { pasts: PastStore; signal: AbortSignal },
): Promise<number> {
  let filled = 0;
  let after: string | undefined;
  for (;;) {
    const owners = await store.dueOwnersAfter(after, OWNERS_AT_ONCE);
    after = owners.at(-1)?.id;
    if (after === undefined) return filled;
    for (const owner of owners) filled += await fillOwner(shards, { owner, store, signal });
  }
}

interface OwnerFill {
  owner: FunnelOwner;
  store: PastStore;
  signal: AbortSignal;
}

async function fillOwner(shards: Shards, { owner, store, signal }: OwnerFill): Promise<number> {
  const batch = await putArtifacts(shards, [owner]);
  let filled = 0;
  let after: string | undefined;
  while (filled < COMPANIES_MAX) {
    signal.throwIfAborted();
    const due = await store.dueCompanies(owner.id, { after, limit: COMPANIES_AT_ONCE });
    after = due.at(-1)?.domain;
    if (after === undefined) return filled;
    const days = batch === undefined ? NO_DAYS : await readDays(shards, { batch, due, signal });
    const pasts = due.map((company) => ({
      ...company,
      changes: replayDays(days.get(company.domain) ?? [], company.until),
    }));
    if (!(await store.putPasts(owner.id, pasts))) return filled;
    filled += due.length;
  }
  return filled;
}

/** By domain. */
type Days = ReadonlyMap<string, readonly ActiveDay[]>;

const NO_DAYS: Days = new Map();

async function readDays(
  shards: Shards,
  { batch, due, signal }: { batch: string; due: readonly DueCompany[]; signal: AbortSignal },
): Promise<Days> {
  const params = { batch, domains: due.map(({ domain }) => domain), ...POINTS_PARAMS };
  const days = new Map<string, ActiveDay[]>();
  for await (const row of readLines<DayRow>(shards, { statement: "active-days", params, signal })) {
    const [domain, date, downloads, views, downloadPoints, viewPoints] = row;
    const known = days.get(domain) ?? [];
    known.push({ date, downloads: Number(downloads), views: Number(views), downloadPoints, viewPoints });
    days.set(domain, known);
  }
  return days;
}

/** 64-bit numbers may be text. */
type DayRow = [
  domain: string,
  date: string,
  downloads: number | string,
  views: number | string,
  downloadPoints: number,
  viewPoints: number,
];
