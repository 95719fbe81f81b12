import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FactsQuery, OwnerFacts } from "../../../../aggregate/funnel/read-company-facts.js";
import { decideStages, type FunnelRun } from "../../../../aggregate/funnel/run-funnel.js";
import { insertImport } from "../../../../api/features/imports/imports.js";
import { listCompanies, listStageChanges } from "../../../../api/features/companies/funnel-companies.js";
import { onConnection } from "../../../../api/base/postgres/connection.js";
import { pastStore } from "../../../../api/features/companies/funnel-pasts.js";
import { funnelStore, readLastRun } from "../../../../api/features/companies/funnel-runs.js";
import { Random } from "../../../../deploy/demo/random.js";
import { pause } from "../../../../schemas/async/pause.js";
import type { CompanyFacts } from "../../../../schemas/records/funnel.js";
import { openTestPostgres, type TestPostgres } from "../../../support/api/management-api.js";

let postgres: TestPostgres;
let pg: Pool;
let ownerId: string;

beforeAll(async () => {
  postgres = await openTestPostgres();
  pg = postgres.pg;
});

afterAll(() => postgres?.[Symbol.asyncDispose]());

beforeEach(async () => {
  ownerId = randomUUID();
  const name = ownerId.slice(0, 18);
  await pg.query("insert into owners (id, kind, name) values ($1, 'user', $2)", [ownerId, name]);
  await pg.query("insert into pixels (id, owner_id, name) values ($1, $2, 'docs')", [randomUUID(), ownerId]);
});

const signal = new AbortController().signal;
const minute = (nth: number) => new Date(Date.UTC(2026, 0, 1, 12, nth));
const COMPANIES = 4_300;

/** Facts that differ from day to day: `nth` moves each company on in its own rhythm. */
const factsOf = (nth: number): CompanyFacts[] =>
  Array.from({ length: COMPANIES }, (_, company) => {
    const downloadDays = Math.floor((company + nth) / (1 + (company % 3))) % 2;
    const seen = { firstSeen: "2025-12-01", lastSeen: "2026-01-01", downloads: downloadDays, views: 1 };
    const past = { recentDownloads: 0, past: "0", pastOfLastRun: "0" };
    return {
      domain: `company-${String(company).padStart(4, "0")}.example`,
      name: `Company ${company}`,
      ...{ score: downloadDays * 5, downloadDays, ...seen, ...past },
      ...{ viewedLast30Days: false, viewedLast60Days: true, viewedInConsecutiveWeeks: false },
      activeWindows: [true, false, false],
    };
  });

const reading = (nth: number, pauseMs = 0) =>
  async function* ({ owners }: FactsQuery): AsyncGenerator<OwnerFacts> {
    const ownerIndex = owners.findIndex(({ id }) => id === ownerId);
    for (const [index, facts] of factsOf(nth).entries()) {
      if (index % 1_000 === 0) await pause(pauseMs);
      yield { ownerIndex, facts };
    }
  };

/** Runs as a process of its own would; `through` may get in the way of its store. */
function run(
  nth: number,
  { asOf = minute(nth), pauseMs = 0, through = (store: FunnelRun["store"]) => store } = {},
) {
  return onConnection(pg, (client) =>
    decideStages(reading(nth, pauseMs), { store: through(funnelStore(client, { ownerId })), asOf, signal }),
  );
}

interface Change {
  domain: string;
  old_stage: string | null;
  new_stage: string;
}

/** The announced changes of each company, in order; throws where one does not begin where the last one ended. */
async function historyOf(): Promise<Map<string, string[]>> {
  const { rows } = await pg.query<Change>(
    "select domain, old_stage, new_stage from funnel_changes where owner_id = $1 and not is_past order by id",
    [ownerId],
  );
  const history = new Map<string, string[]>();
  for (const { domain, old_stage, new_stage } of rows) {
    const known = history.get(domain) ?? [];
    expect([domain, old_stage]).toEqual([domain, known.at(-1) ?? null]);
    expect(new_stage).not.toBe(old_stage);
    history.set(domain, [...known, new_stage]);
  }
  return history;
}

/** The last change of every company is where it is kept, and the counts are theirs. */
async function expectConsistent(nth: number): Promise<void> {
  const history = await historyOf();
  const { rows } = await pg.query<{ domain: string; stage: string }>(
    "select domain, stage from funnel_companies where owner_id = $1 order by domain",
    [ownerId],
  );
  const stages = factsOf(nth).map(({ domain, downloadDays }) => [
    domain,
    ["interest", "investigation"][downloadDays],
  ]);
  expect(rows.map(({ domain, stage }) => [domain, stage])).toEqual(stages);
  expect(rows.map(({ domain }) => [domain, history.get(domain)?.at(-1)])).toEqual(stages);
  const counts = await pg.query(
    `select stage, (select coalesce(sum(companies), 0)::integer from funnel_growth g
       where g.owner_id = $1 and g.stage = s.stage) - (select count(*)::integer from funnel_companies c
       where c.owner_id = $1 and c.stage = s.stage) as differing
     from unnest(array['interest', 'investigation', 'inactive']) as s (stage)`,
    [ownerId],
  );
  expect(counts.rows.map((row: { differing: number }) => row.differing)).toEqual([0, 0, 0]);
}

test("a run that dies anywhere and is repeated announces nothing twice and misses nothing", async () => {
  const random = new Random(8);
  let died = 0;
  for (let nth = 0; nth < 4; nth += 1) {
    for (let tries = 0; tries < 3; tries += 1) {
      const dying = dyingStore({ transaction: random.below(3), beforeCommit: random.below(2) === 0 });
      await run(nth, { through: dying }).catch(() => (died += 1));
    }
    await run(nth);
    await expectConsistent(nth);
    expect((await run(nth)).changes).toBe(0);
  }
  expect(died).toBe(12);
});

/** Dies in, or right after, one of its transactions. */
const dyingStore =
  ({ transaction, beforeCommit }: { transaction: number; beforeCommit: boolean }) =>
  (store: FunnelRun["store"]): FunnelRun["store"] => {
    let left = transaction;
    const die = () => {
      throw new Error("killed");
    };
    return {
      ...store,
      async inOwnerTransaction(about, work) {
        const dies = left === 0;
        left -= 1;
        const done = await store.inOwnerTransaction(about, async (owner) => {
          await work(owner);
          if (dies && beforeCommit) die();
        });
        return dies ? die() : done;
      },
    };
  };

test("two runs at once announce as one after the other would", async () => {
  for (let nth = 0; nth < 3; nth += 1) {
    await Promise.all([run(nth, { pauseMs: 2 }), run(nth, { pauseMs: 1 }), run(nth)]);
    await expectConsistent(nth);
  }
});

test("a run that is overtaken by a later one leaves the rest to it", async () => {
  const slow = run(0, { pauseMs: 150 });
  await pause(200);
  await run(1);
  const { leftAlone } = await slow;
  await expectConsistent(1);
  expect(leftAlone).toBe(1);
  expect(await run(0)).toEqual({ owners: 1, companies: 0, changes: 0, leftAlone: 1, importing: 0 });
  await expectConsistent(1);
});

test("a run that found no company keeps none of the past out", async () => {
  const finding = (nothing: boolean, nth: number) =>
    onConnection(pg, (client) =>
      decideStages(nothing ? async function* () {} : reading(nth), {
        ...{ store: funnelStore(client, { ownerId }), asOf: minute(nth), signal },
      }),
    );
  expect(await finding(true, 9)).toMatchObject({ owners: 1, companies: 0, leftAlone: 0 });
  expect(await readLastRun(pg, ownerId)).toBeUndefined();
  expect(await finding(false, 3)).toMatchObject({ companies: COMPANIES, leftAlone: 0 });
  expect(await readLastRun(pg, ownerId)).toEqual(minute(3));
  await expectConsistent(3);
  expect(await finding(false, 2)).toMatchObject({ companies: 0, leftAlone: 1 });
});

test("companies that did not change are not written again", async () => {
  await run(0);
  const written = () =>
    pg.query<{ xmin: string }>("select distinct xmin::text from funnel_companies where owner_id = $1", [
      ownerId,
    ]);
  const before = (await written()).rows;
  await run(0, { asOf: minute(5) });
  expect((await written()).rows).toEqual(before);
});

test("a past that breaks off, or waits for imports, or whose company changed meanwhile, stays due", async () => {
  await run(0);
  await pg.query("update funnel_companies set is_due = true, past = 'a' where owner_id = $1", [ownerId]);
  const page = { after: undefined, limit: 200 };
  const past = { date: "2025-12-01", newStage: "interest", cause: "view" } as const;
  const put = (through = pg) =>
    onConnection(through, async (client) => {
      const store = pastStore(client);
      const due = await store.dueCompanies(ownerId, page);
      const [one, two] = due.map((company) => ({ ...company, changes: [past] }));
      if (one === undefined || two === undefined) throw new Error("none is due");
      const done = await store.putPasts(ownerId, [one, { ...two, past: "b" }]);
      return { done, domain: one.domain, until: one.until };
    });
  const dueCount = async () => {
    const text = "select count(*)::integer as due from funnel_companies where owner_id = $1 and is_due";
    return (await pg.query<{ due: number }>(text, [ownerId])).rows[0]?.due;
  };
  const importing = await startImport();
  expect([await put(), await dueCount()]).toMatchObject([{ done: false }, COMPANIES]);
  await pg.query("update imports set status = 'done', created_at = now() - interval '2 days' where id = $1", [
    importing,
  ]);
  await pg.query("alter table funnel_growth add constraint breaks check (date > '2025-12-01') not valid");
  await expect(put()).rejects.toThrow("breaks");
  await pg.query("alter table funnel_growth drop constraint breaks");
  expect(await dueCount()).toBe(COMPANIES);
  const { domain, until } = await put();
  expect([await dueCount(), until]).toEqual([COMPANIES - 1, "2026-01-01"]);
  const changes = await listStageChanges(pg, { ownerId, domain, limit: 9 });
  expect(changes.map(({ changed_at: at }) => at)).toEqual(["2025-12-01T23:59:59.999000Z"]);
  await expectConsistent(0);
});

/** An import of the owner that is under way. */
async function startImport(): Promise<string> {
  const tokens = { email: `${ownerId}@example.org`, hash: ownerId };
  await pg.query(
    `insert into accounts (id, email, token_hash, token_ciphertext) values ($1, $2, $3, 'text')
     on conflict do nothing`,
    [ownerId, tokens.email, tokens.hash],
  );
  const target = { ownerId, accountId: ownerId, artifactKind: "any", artifactId: "" } as const;
  return (await insertImport(pg, target)).id;
}

const waitADay = () =>
  pg.query("update funnel_waits set since = since - interval '25 hours' where owner_id = $1", [ownerId]);

test("an owner is looked at when their imports are through, or after a day", async () => {
  const id = await startImport();
  const asOf = new Date();
  expect(await run(0, { asOf })).toMatchObject({ owners: 1, companies: 0, changes: 0, importing: 1 });
  await pg.query("update imports set status = 'done' where id = $1", [id]);
  expect(await run(0, { asOf })).toMatchObject({ companies: COMPANIES, importing: 0 });
  const touching = (store: FunnelRun["store"]): FunnelRun["store"] => ({
    ...store,
    async ownersAfter(after, limit) {
      const owners = await store.ownersAfter(after, limit);
      await pg.query("update imports set updated_at = clock_timestamp() where id = $1", [id]);
      return owners;
    },
  });
  expect(await run(1, { asOf, through: touching })).toMatchObject({ companies: 0, importing: 1 });
  await pg.query("update imports set status = 'importing' where id = $1", [id]);
  expect(await run(1, { asOf })).toMatchObject({ companies: 0, importing: 1 });
  await waitADay();
  expect(await run(1, { asOf })).toMatchObject({ companies: COMPANIES, importing: 0 });
  expect(await run(0, { asOf })).toMatchObject({ companies: 0, importing: 1 });
});

test("imports are waited for after a run as of an earlier time, too", async () => {
  expect(await run(0)).toMatchObject({ companies: COMPANIES, importing: 0 });
  await startImport();
  expect(await run(1)).toMatchObject({ companies: 0, importing: 1 });
  expect(await run(1, { asOf: new Date() })).toMatchObject({ companies: 0, importing: 1 });
  await waitADay();
  expect(await run(1)).toMatchObject({ companies: COMPANIES, importing: 0 });
});

test("imports of an owner who was never looked at are waited for, also where others are older", async () => {
  const old = await startImport();
  await pg.query("update imports set status = 'done', created_at = now() - interval '9 days' where id = $1", [
    old,
  ]);
  await startImport();
  expect(await run(0)).toMatchObject({ companies: 0, importing: 1 });
});

test("companies of equal scores are listed by their downloads of 30 days, also from page to page", async () => {
  await pg.query(
    `insert into funnel_companies (owner_id, domain, name, engaged, score, downloads, views, recent_downloads)
     values ($1, 'a', '', false, 50, 9, 0, 20), ($1, 'b', '', false, 50, 9, 0, 30), ($1, 'c', '', false, 70, 1, 0, 1),
       ($1, 'd', '', false, 50, 9, 0, 20)`,
    [ownerId],
  );
  const filter = { stage: undefined, search: undefined, sort: "score" } as const;
  const after = async (domain?: string) =>
    (
      await listCompanies(pg, { ownerId, page: { perPage: 9, ...(domain && { after: domain }) }, filter })
    ).map((company) => company.domain);
  expect(await Promise.all([after(), after("b"), after("a")])).toEqual([
    ["c", "b", "a", "d"],
    ["a", "d"],
    ["d"],
  ]);
});

test("a company is found whatever the case of its name, in any alphabet", async () => {
  await pg.query(
    `insert into funnel_companies (owner_id, domain, name, engaged, score, downloads, views)
     values ($1, 'nestle.com', 'Nestlé', false, 0, 0, 0), ($1, 'yandex.ru', 'ЯНДЕКС', false, 0, 0, 0)`,
    [ownerId],
  );
  const find = async (search: string) => {
    const filter = { stage: undefined, search: [search], sort: "score" } as const;
    return (await listCompanies(pg, { ownerId, page: { perPage: 9 }, filter })).map(({ name }) => name);
  };
  expect(await find("NESTLÉ")).toEqual(["Nestlé"]);
  expect(await find("янд")).toEqual(["ЯНДЕКС"]);
  expect(await find("NESTLE.")).toEqual(["Nestlé"]);
  expect(await find("nestle ")).toEqual([]);
});
