import type { Shards } from "../../schemas/shards.js";
import type {
  CompanyFacts,
  DomainRange,
  FunnelCompany,
  FunnelOwner,
  FunnelTransaction,
  StageChange,
} from "../../schemas/records/funnel.js";
import { decideCompany } from "./decide-company.js";
import { fillPasts, type PastStore } from "./fill-pasts.js";
import { readCompanyFacts, type FactsQuery, type OwnerFacts } from "./read-company-facts.js";

/** Owners of one query: ClickHouse needs memory for all their companies at once. */
const OWNERS_AT_ONCE = 100;
/** Companies held in memory, and written in one transaction. */
const COMPANIES_AT_ONCE = 2_000;
const CHANGES_PER_EVENT_MAX = 100;

export interface FunnelRun {
  /** Statements of api/features/companies/funnel-runs.ts. */
  store: {
    /** The owners with artifacts or companies, in the order of their ids. `after` is the last id of the page before. */
    ownersAfter(after: string | undefined, limit: number): Promise<FunnelOwner[]>;
    /**
     * Does `work` in one transaction, under a lock on the owner. Does nothing if a later run has stored the
     * owner's companies, or if an import was under way since `ownersAfter` answered, because overridden
     * events count twice until settlement. The wait for imports ends after a day.
     */
    inOwnerTransaction(
      about: { ownerId: string; asOf: Date },
      work: (owner: FunnelTransaction) => Promise<void>,
    ): Promise<"done" | "later" | "importing">;
  };
  /** The moment to compute for; changes carry it as their time. */
  asOf: Date;
  /** Ends the run between two transactions by throwing the signal's reason. */
  signal: AbortSignal;
}

export interface FunnelOutcome {
  owners: number;
  companies: number;
  changes: number;
  leftAlone: number;
  /** Owners who wait until their imports are done. */
  importing: number;
}

/**
 * One pass over each owner's activity, and then the past of companies that need it: the past of one owner keeps no
 * other from being placed today.
 */
export async function runFunnel(
  shards: Shards,
  { pasts, ...run }: FunnelRun & { pasts: PastStore },
): Promise<FunnelOutcome & { pasts: number }> {
  const read = (query: FactsQuery) => readCompanyFacts(shards, query);
  const outcome = await decideStages(read, run);
  return { ...outcome, pasts: await fillPasts(shards, { pasts, signal: run.signal }) };
}

/**
 * Each part of an owner is one transaction, which decides the changes, stores and announces them: neither a killed run
 * nor two at once announce a change twice, and the next run makes up for a killed one.
 */
export async function decideStages(
  read: (query: FactsQuery) => AsyncIterable<OwnerFacts>,
  { store, asOf, signal }: FunnelRun,
): Promise<FunnelOutcome> {
  const outcome = { owners: 0, companies: 0, changes: 0, leftAlone: 0, importing: 0 };
  const today = asOf.toISOString().slice(0, 10);
  let after: string | undefined;
  for (;;) {
    const owners = await store.ownersAfter(after, OWNERS_AT_ONCE);
    after = owners.at(-1)?.id;
    if (after === undefined) return outcome;
    for await (const part of partsOf(owners, read({ owners, today, signal }))) {
      signal.throwIfAborted();
      addPart(outcome, part, await decidePart(store, part, asOf));
    }
  }
}

/** An owner counts once, with the last part. */
function addPart(outcome: FunnelOutcome, { range, facts }: Part, decided: PartOutcome): void {
  const owners = range.through === undefined ? 1 : 0;
  outcome.owners += owners;
  if (decided === "later") outcome.leftAlone += owners;
  else if (decided === "importing") outcome.importing += owners;
  else {
    outcome.companies += facts.length;
    outcome.changes += decided;
  }
}

/** How many companies changed their stage, or why the part was left alone. */
type PartOutcome = number | "later" | "importing";

interface Part {
  ownerId: string;
  range: DomainRange;
  facts: readonly CompanyFacts[];
}

/** Every owner has at least one part, and the parts of an owner cover every possible domain. */
async function* partsOf(
  owners: readonly FunnelOwner[],
  rows: AsyncIterable<OwnerFacts>,
): AsyncGenerator<Part> {
  let at = 0;
  let after: string | undefined;
  let facts: CompanyFacts[] = [];
  const cut = (through?: string): Part => {
    const part = { ownerId: owners[at]?.id ?? "", range: { after, through }, facts };
    after = through;
    facts = [];
    return part;
  };
  for await (const row of rows) {
    for (; at < row.ownerIndex; at += 1) yield cut();
    if (facts.length === COMPANIES_AT_ONCE) yield cut(facts.at(-1)?.domain);
    facts.push(row.facts);
  }
  for (; at < owners.length; at += 1) yield cut();
}

async function decidePart(
  store: FunnelRun["store"],
  { ownerId, range, facts }: Part,
  asOf: Date,
): Promise<PartOutcome> {
  const changes: StageChange[] = [];
  const outcome = await store.inOwnerTransaction({ ownerId, asOf }, async (owner) => {
    const stored = await owner.companiesIn(range);
    const decided = decideAll(stored, facts);
    changes.push(...decided.changes);
    await putAll(owner, decided);
  });
  return outcome === "done" ? changes.length : outcome;
}

interface Decided {
  put: FunnelCompany[];
  removed: string[];
  changes: StageChange[];
}

function decideAll(stored: readonly FunnelCompany[], facts: readonly CompanyFacts[]): Decided {
  const left = new Map(stored.map((company) => [company.domain, company]));
  const decided: Decided = { put: [], removed: [], changes: [] };
  const decide = (before: FunnelCompany | undefined, seen: CompanyFacts | undefined) => {
    const { company, change } = decideCompany(before, seen);
    if (company === undefined) decided.removed.push(before?.domain ?? "");
    else if (!isSame(before, company)) decided.put.push(company);
    if (change !== undefined) decided.changes.push(change);
  };
  for (const seen of facts) {
    decide(left.get(seen.domain), seen);
    left.delete(seen.domain);
  }
  for (const before of left.values()) decide(before, undefined);
  return decided;
}

function isSame(before: FunnelCompany | undefined, now: FunnelCompany): boolean {
  if (before === undefined) return false;
  return (Object.keys(now) as (keyof FunnelCompany)[]).every((field) => before[field] === now[field]);
}

async function putAll(owner: FunnelTransaction, { put, removed, changes }: Decided): Promise<void> {
  if (put.length > 0) await owner.putCompanies(put);
  if (removed.length > 0) await owner.removeCompanies(removed);
  if (changes.length > 0) await owner.putChanges(changes);
  for (let from = 0; from < changes.length; from += CHANGES_PER_EVENT_MAX)
    await owner.announce(changes.slice(from, from + CHANGES_PER_EVENT_MAX));
}
