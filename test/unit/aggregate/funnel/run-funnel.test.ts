import { describe, expect, test } from "vitest";
import type { FactsQuery, OwnerFacts } from "../../../../aggregate/funnel/read-company-facts.js";
import { decideStages, type FunnelRun } from "../../../../aggregate/funnel/run-funnel.js";
import type {
  CompanyFacts,
  FunnelCompany,
  FunnelTransaction,
  StageChange,
} from "../../../../schemas/records/funnel.js";

const asOf = new Date("2026-03-10T12:00:00Z");
const signal = new AbortController().signal;
const VIEWED = { downloadDays: 0, viewedLast30Days: true, viewedLast60Days: true };
const DOWNLOADED = { downloadDays: 1, viewedLast30Days: false, viewedLast60Days: false };
const GONE = { downloadDays: 0, viewedLast30Days: false, viewedLast60Days: false };

function factsOf(domain: string, more: Partial<CompanyFacts> = VIEWED): CompanyFacts {
  const windows = { activeWindows: [more !== GONE, false, false] as const, viewedInConsecutiveWeeks: false };
  const seen = { firstSeen: "2026-03-01", lastSeen: "2026-03-09", downloads: 1, views: 1 };
  const past = { recentDownloads: 0, past: "0", pastOfLastRun: "0" };
  return { domain, name: `${domain} Ltd`, score: 1, ...seen, ...past, ...windows, ...VIEWED, ...more };
}

type Owned = Record<string, CompanyFacts[]>;

/** The facts that a test has in ClickHouse, by the owner's id. */
const reading = (companies: Owned) =>
  async function* ({ owners }: FactsQuery): AsyncGenerator<OwnerFacts> {
    for (const [ownerIndex, { id }] of owners.entries())
      for (const facts of companies[id] ?? []) yield { ownerIndex, facts };
  };

interface Kept {
  companies: Map<string, FunnelCompany>;
  changes: StageChange[];
  events: (readonly StageChange[])[];
  transactions: number;
}

/** A store in memory: what a transaction puts is there once it ends. `laterRun` has been as of a later time. */
function openStore(
  ids: readonly string[],
  { laterRun = "", importing = "" } = {},
): { store: FunnelRun["store"]; of: (id: string) => Kept } {
  const kept = new Map<string, Kept>();
  const of = (id: string) => {
    const known = kept.get(id) ?? { companies: new Map(), changes: [], events: [], transactions: 0 };
    kept.set(id, known);
    return known;
  };
  const transaction = ({ companies, changes, events }: Kept): FunnelTransaction => ({
    companiesIn: async ({ after, through }) =>
      [...companies.values()].filter(
        ({ domain }) =>
          (after === undefined || domain > after) && (through === undefined || domain <= through),
      ),
    putCompanies: async (put) => put.forEach((each) => companies.set(each.domain, each)),
    removeCompanies: async (domains) => domains.forEach((domain) => companies.delete(domain)),
    putChanges: async (made) => void changes.push(...made),
    announce: async (made) => void events.push(made),
  });
  return {
    of,
    store: {
      ownersAfter: async (after, limit) =>
        ids
          .filter((id) => after === undefined || id > after)
          .slice(0, limit)
          .map((id) => ({ id, artifacts: [] })),
      async inOwnerTransaction({ ownerId }, work) {
        if (ownerId === laterRun) return "later";
        if (ownerId === importing) return "importing";
        of(ownerId).transactions += 1;
        await work(transaction(of(ownerId)));
        return "done";
      },
    },
  };
}

const domainsOf = (count: number) =>
  Array.from({ length: count }, (_, nth) => `d${String(nth).padStart(5, "0")}.example`);

describe("a run of the funnel", () => {
  test("announces a company once, without an old stage the first time", async () => {
    const { store, of } = openStore(["a"]);
    const run = (facts: CompanyFacts[]) => decideStages(reading({ a: facts }), { store, asOf, signal });
    const outcome = { owners: 1, companies: 1, changes: 1, leftAlone: 0, importing: 0 };
    expect(await run([factsOf("acme.example")])).toEqual(outcome);
    expect((await run([factsOf("acme.example")])).changes).toBe(0);
    expect((await run([factsOf("acme.example", DOWNLOADED)])).changes).toBe(1);
    expect((await run([factsOf("acme.example", GONE)])).changes).toBe(1);
    const about = { domain: "acme.example", name: "acme.example Ltd" };
    const changes = [
      { ...about, oldStage: null, newStage: "interest", cause: "view" },
      { ...about, oldStage: "interest", newStage: "investigation", cause: "download" },
      { ...about, oldStage: "investigation", newStage: "inactive", cause: "no-activity" },
    ];
    expect(of("a").events).toEqual(changes.map((change) => [change]));
    expect(of("a").changes).toEqual(changes);
  });

  test.each([
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
    [2_150, [...Array<number>(20).fill(100), 100, 50]],
  ])("tells of %d companies in events of at most 100", async (count, sizes) => {
    const { store, of } = openStore(["a"]);
    const facts = domainsOf(count).map((domain) => factsOf(domain));
    await decideStages(reading({ a: facts }), { store, asOf, signal });
    expect(of("a").events.map((event) => event.length)).toEqual(sizes);
    expect(
      of("a")
        .events.flat()
        .map(({ domain }) => domain),
    ).toEqual(domainsOf(count));
  });

  test("writes 2,000 companies in a transaction, and finds those that are gone wherever they are", async () => {
    const { store, of } = openStore(["a"]);
    const domains = domainsOf(4_500);
    const all = domains.map((domain) => factsOf(domain, DOWNLOADED));
    await decideStages(reading({ a: all }), { store, asOf, signal });
    expect(of("a").transactions).toBe(3);
    const gone = new Set([0, 1_999, 2_000, 3_000, 4_499].map((nth) => domains[nth]));
    const left = all.filter(({ domain }) => !gone.has(domain));
    expect((await decideStages(reading({ a: left }), { store, asOf, signal })).changes).toBe(5);
    const inactive = [...of("a").companies.values()].filter(({ stage }) => stage === "inactive");
    expect(new Set(inactive.map(({ domain }) => domain))).toEqual(gone);
  });

  test("goes through all owners, also those of which nothing is found", async () => {
    const ids = Array.from({ length: 250 }, (_, nth) => String(nth).padStart(3, "0"));
    const { store, of } = openStore(ids);
    const companies = Object.fromEntries(
      ["000", "099", "100", "248"].map((id) => [id, [factsOf("acme.example")]]),
    );
    const outcome = await decideStages(reading(companies), { store, asOf, signal });
    expect(outcome).toEqual({ owners: 250, companies: 4, changes: 4, leftAlone: 0, importing: 0 });
    expect(ids.filter((id) => of(id).changes.length > 0)).toEqual(Object.keys(companies).sort());
  });

  test("forgets a company without a stage when nothing is left of it, and keeps one with a stage", async () => {
    const { store, of } = openStore(["a"]);
    const before = [factsOf("late.example", GONE), factsOf("viewer.example")];
    await decideStages(reading({ a: before }), { store, asOf, signal });
    expect([...of("a").companies.keys()]).toEqual(["late.example", "viewer.example"]);
    await decideStages(reading({}), { store, asOf, signal });
    expect([...of("a").companies.values()]).toEqual([
      {
        ...{ domain: "viewer.example", name: "viewer.example Ltd", stage: "interest", engaged: false },
        ...{ score: 0, downloads: 0, views: 0, recentDownloads: 0, firstSeen: null, lastSeen: null },
        ...{ past: "0", isDue: false, isAnnounced: true },
      },
    ]);
  });

  const companies = { a: [factsOf("acme.example")], b: [factsOf("acme.example")] };
  test.each([
    ["alone whom a later run has seen", { laterRun: "a" }, { leftAlone: 1, importing: 0 }, [0, 1]],
    ["whose imports run to the next one", { importing: "b" }, { leftAlone: 0, importing: 1 }, [1, 0]],
  ])("leaves an owner %s", async (_, other, left, changes) => {
    const { store, of } = openStore(["a", "b"], other);
    const outcome = await decideStages(reading(companies), { store, asOf, signal });
    expect(outcome).toEqual({ owners: 2, companies: 1, changes: 1, ...left });
    expect([of("a").changes.length, of("b").changes.length]).toEqual(changes);
  });

  test("ends between two owners when it is told to", async () => {
    const { store, of } = openStore(["a", "b"]);
    const stop = new AbortController();
    const stopping: FunnelRun["store"] = {
      ...store,
      async inOwnerTransaction(about, work) {
        const done = await store.inOwnerTransaction(about, work);
        stop.abort(new Error("enough"));
        return done;
      },
    };
    const running = decideStages(reading(companies), { store: stopping, asOf, signal: stop.signal });
    await expect(running).rejects.toThrow("enough");
    expect([of("a").changes.length, of("b").changes.length]).toEqual([1, 0]);
  });
});
