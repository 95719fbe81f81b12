import { afterAll, beforeAll, expect, test } from "vitest";
import { migrateClickHouse } from "../../../../aggregate/clickhouse/migrate-clickhouse.js";
import { readMigrations } from "../../../../aggregate/clickhouse/read-migrations.js";
import { runStatement, type Run } from "../../../../aggregate/clickhouse/run-statement.js";
import { namePlatforms } from "../../../../aggregate/clickhouse/steps/name-platforms.js";
import { namePlatform } from "../../../../enrich/lookups/clients/find-platform.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import {
  chunkOf,
  IMPORTS,
  prepareReleaseBefore,
  settleAll,
  writeHistory,
} from "../../../support/stores/release-before-migrations.js";
import { insertChunk } from "../../../support/stores/settlement-world.js";

/** The platform of an event of this world is its user agent and " OS". */
const AGENTS = ["linux", "Linux", "darwin", "riscos", "macos", "win32", "x86_64-unknown-linux-musl"];
const OTHERS = ["Windows", "macOS", "Linux", "beos"];
const AGAIN = IMPORTS.first.replace("0011", "0017");

let clickhouse: TestClickHouse;
let before: Row[];

beforeAll(async () => {
  clickhouse = await openTestClickHouse(prepareReleaseBefore);
  await writeHistory(clickhouse, { agents: AGENTS });
  before = await platforms();
  const known = await readMigrations();
  await migrateClickHouse(clickhouse.client, { known: known.filter(({ number }) => number < 62) });
});

afterAll(() => clickhouse?.[Symbol.asyncDispose]());

interface Row {
  package: string;
  date: string;
  platform: string;
  total: number;
}

function platforms(): Promise<Row[]> {
  return clickhouse.rows(`SELECT package, date, platform, toInt32(sum(platforms.total) AS sum) AS total FROM platforms
    GROUP BY package, date, platform HAVING sum != 0 ORDER BY package, date, platform`);
}

/** The same numbers, counted from the events. */
function recounted(): Promise<Row[]> {
  return clickhouse.rows(`SELECT artifact AS package, date, platform, toInt32(sum(sign) AS sum) AS total FROM events
    WHERE kind = 'package' GROUP BY package, date, platform HAVING sum != 0 ORDER BY package, date, platform`);
}

function summed(rows: readonly Row[], platformOf: (row: Row) => string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const row of rows) {
    const key = `${row.package} ${row.date} ${platformOf(row)}`;
    sums[key] = (sums[key] ?? 0) + row.total;
  }
  return sums;
}

const named = ({ platform }: Row) => namePlatform(platform);

/** Runs the migration's step, until it was through or about to run its statement of this number, from 0. */
async function namesWithin(statements: number): Promise<boolean> {
  let left = statements;
  const run: Run = async (statement) => {
    if (left-- === 0) throw new Error("cut short");
    await runStatement(clickhouse.client, statement);
  };
  try {
    await namePlatforms({ clickhouse: clickhouse.client, run });
    return true;
  } catch (error) {
    expect((error as Error).message).toBe("cut short");
    return false;
  }
}

test("platforms of one name become one row of a day, with the same totals, however often that is cut short", async () => {
  expect(new Set(before.map(({ platform }) => platform))).toEqual(
    new Set(AGENTS.map((agent) => `${agent} OS`)),
  );
  let cuts = 0;
  while (!(await namesWithin(cuts % 2))) cuts++;
  expect(cuts).toBe(5);
  await migrateClickHouse(clickhouse.client);
  const after = await platforms();
  expect(new Set(after.map(({ platform }) => platform))).toEqual(
    new Set(["Linux", "macOS", "Windows", "riscos OS"]),
  );
  expect(summed(after, ({ platform }) => platform)).toEqual(summed(before, named));
  expect(summed(after, () => "")).toEqual(summed(before, () => ""));
  expect(await recounted()).toEqual(after);
});

test("a second run changes nothing, and moves what an older program wrote since", async () => {
  const after = await platforms();
  expect(await namesWithin(Infinity)).toBe(true);
  expect(await platforms()).toEqual(after);
  const late = IMPORTS.first.replace("0011", "0018");
  await insertChunk(clickhouse, chunkOf(late, { order: 4, every: 1, agents: AGENTS }), "late");
  await settleAll(clickhouse, late);
  expect(await platforms()).not.toEqual(after);
  expect(await namesWithin(Infinity)).toBe(true);
  expect(await recounted()).toEqual(await platforms());
  await retract(late);
  expect(await platforms()).toEqual(after);
});

test("an insert that is repeated is still dropped", async () => {
  const after = await platforms();
  await insertChunk(clickhouse, chunkOf(IMPORTS.first, { order: 0, every: 1, agents: AGENTS }), "first");
  expect(await platforms()).toEqual(after);
  expect(await recounted()).toEqual(after);
});

test("overrides and retractions of earlier events are subtracted from the rows that these were moved to", async () => {
  const after = await platforms();
  await insertChunk(clickhouse, chunkOf(AGAIN, { order: 3, every: 1, agents: OTHERS }), "again");
  expect(await settleAll(clickhouse, AGAIN)).toBe(30);
  expect(new Set((await platforms()).map(({ platform }) => platform))).toEqual(
    new Set(OTHERS.map((agent) => `${agent} OS`)),
  );
  await retract(AGAIN);
  expect(await platforms()).toEqual(after);
  await retract(IMPORTS.second);
  await retract(IMPORTS.first);
  expect(await platforms()).toEqual([]);
  expect(await recounted()).toEqual([]);
});

async function retract(importId: string): Promise<void> {
  await clickhouse.client.command({
    query: `INSERT INTO retracted_imports (import_id) SELECT '${importId}'`,
  });
  await settleAll(clickhouse, importId, { retracted: true });
}

test("ClickHouse finds the names that enrichment finds", async () => {
  const texts = [
    "win32",
    "x86_64-unknown-linux-musl",
    "iPadOS",
    "Linux",
    "dragonfly",
    "ſunos",
    "LİNUX",
    "mac os",
    "a-darwin2",
  ];
  const literals = texts.map((text) => `'${text}'`).join(", ");
  await clickhouse.client.command({
    query: `INSERT INTO platforms (package, date, platform, total)
      SELECT '${IMPORTS.first}', '2025-06-01', arrayJoin([${literals}]), 1`,
  });
  expect(await namesWithin(Infinity)).toBe(true);
  const names = (await platforms()).flatMap(({ platform, total }) =>
    Array.from({ length: total }, () => platform),
  );
  expect(names.sort()).toEqual(texts.map(namePlatform).sort());
});
