import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCompanyFacts, type OwnerFacts } from "../../../../aggregate/funnel/read-company-facts.js";
import { type DayActivity, stageFacts } from "../../../support/funnel/stage-facts.js";
import type { ArtifactKind } from "../../../../schemas/records/artifact.js";
import { IMPORTANCES, type Importance } from "../../../../schemas/records/funnel.js";
import type { Shard } from "../../../../schemas/shards.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";

let clickhouse: TestClickHouse;

beforeAll(async () => {
  clickhouse = await openTestClickHouse();
});

afterAll(() => clickhouse?.[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
const TODAY = Date.parse("2026-03-10") / DAY_MS;
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

interface Row extends DayActivity {
  owner: number;
  domain: string;
  company: string;
  /** Counted and retracted, as by an override. */
  retracted: number;
}

/** Days around every boundary that a rule has, and some after today. */
const day = fc
  .oneof(
    fc.constantFrom(-1, 0, 1, 6, 7, 29, 30, 31, 59, 60, 61, 89, 90, 91),
    fc.integer({ min: 0, max: 120 }),
  )
  .map((age) => TODAY - age);

const row: fc.Arbitrary<Row> = fc.record({
  owner: fc.nat(2),
  domain: fc.constantFrom("acme.example", "umbrella.example", "łódź.example"),
  company: fc.constantFrom("Acme", "Acme Ltd"),
  kind: fc.constantFrom<ArtifactKind>("package", "pixel"),
  importance: fc.constantFrom(...IMPORTANCES),
  day,
  total: fc.nat(8),
  retracted: fc.nat(2),
});

type Ids = Map<string, string>;

function idOf(ids: Ids, { owner, kind, importance }: Pick<Row, "owner" | "kind" | "importance">): string {
  const key = `${owner} ${kind} ${importance}`;
  ids.set(key, ids.get(key) ?? randomUUID());
  return ids.get(key) ?? "";
}

async function factsOf(rows: readonly Row[]): Promise<OwnerFacts[]> {
  const ids: Ids = new Map();
  const owners = [0, 1, 2].map((owner) => ({
    id: randomUUID(),
    artifacts: (["package", "pixel"] as const).flatMap((kind) =>
      IMPORTANCES.map((importance: Importance) => ({
        id: idOf(ids, { owner, kind, importance }),
        kind,
        importance,
      })),
    ),
  }));
  const stored = rows.flatMap((each) => {
    const { kind, day, company, domain: company_domain, total, retracted } = each;
    const about = { artifact: idOf(ids, each), kind, date: dateOf(day), company, company_domain };
    return [
      { ...about, total: total + retracted },
      { ...about, company: "Retracted", total: retracted },
    ].concat({ ...about, total: -retracted }, { ...about, company: "Retracted", total: -retracted });
  });
  for (const [index, values] of [stored.slice(0, 1), stored.slice(1)].entries()) {
    const { shards } = clickhouse.shards;
    const { tables } = shards[index % shards.length] as Shard;
    if (values.length > 0) await tables.insert({ table: "company_activity", values, format: "JSONEachRow" });
  }
  const signal = new AbortController().signal;
  const found: OwnerFacts[] = [];
  for await (const each of readCompanyFacts(clickhouse.shards, { owners, today: dateOf(TODAY), signal }))
    found.push(each);
  return found;
}

function expectedFacts(rows: readonly Row[]) {
  const groups = new Map<string, Row[]>();
  for (const each of rows.filter(({ total, day }) => total > 0 && day <= TODAY)) {
    const key = `${each.owner} ${each.domain}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups].map(([key, group]) => {
    const sum = (kind: ArtifactKind) =>
      group.filter((each) => each.kind === kind).reduce((all, { total }) => all + total, 0);
    const days = group.map((each) => each.day).sort((a, b) => a - b);
    const seen = { firstSeen: dateOf(days.at(0) ?? 0), lastSeen: dateOf(days.at(-1) ?? 0) };
    const facts = {
      ...stageFacts(group, TODAY),
      domain: key.slice(2),
      name: expect.stringMatching(/^Acme( Ltd)?$/) as string,
      ...{ downloads: sum("package"), views: sum("pixel"), ...seen },
      recentDownloads: group
        .filter(({ kind, day }) => kind === "package" && TODAY - day < 30)
        .reduce((all, { total }) => all + total, 0),
      ...{ past: expect.any(String) as string, pastOfLastRun: "0" },
    };
    return { key: Buffer.from(key), found: { ownerIndex: Number(key[0]), facts } };
  });
}

test("ClickHouse finds of every owner and company what the rules in words find", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const expected = expectedFacts(rows).sort((a, b) => Buffer.compare(a.key, b.key));
      expect(await factsOf(rows)).toEqual(expected.map(({ found }) => found));
    }),
    { numRuns: 60, seed: 8 },
  );
});
