import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { recount, versionsOfChunks } from "../../../../aggregate/settlement/recount.js";
import { markRetracted, recountStaged, settle } from "../../../../aggregate/settlement/settle.js";
import { Random } from "../../../../deploy/demo/random.js";
import { breakView, onEveryServer } from "../../../support/stores/open-clickhouse.js";
import { makeAllSets } from "../../../support/stores/make-all-sets.js";
import { TEST_SEEDS } from "../../../support/test-seeds.js";
import { suiteServers } from "../../../support/shards/given-servers.js";
import { sentKey } from "../../../../schemas/records/event-id.js";
import {
  artifact,
  countLive,
  expectAnswered,
  insert,
  journal,
  liveOf,
  settleAll,
  STAMP,
  useArtifact,
  useSettlement,
  type Version,
} from "../../../support/stores/settlement-world.js";
import { clickhouse } from "../../../support/stores/use-clickhouse.js";

useSettlement();

/** A version of event `key` that differs in everything from those of other numbers. */
function versionOf(
  key: string,
  {
    importId,
    stamp = STAMP,
    line = 0,
    variant = 0,
  }: Partial<Version> & { importId: string; variant?: number },
): Version {
  const time = Date.parse("2025-03-10T12:00:00Z") + (variant % 3) * 86_400_000;
  const variables = new Map([
    ["channel", `c${variant}`],
    ["same", "s"],
  ]);
  const about = { version: `v${variant}`, userAgent: `agent${variant % 4}`, address: `192.0.2.${variant}` };
  return { importId, stamp, line, event: { artifact, key, time, ...about, variables } };
}

/** Has them found by the statement for many events. */
const MANY = { events: 1_000 };

/** The rows of events that no row with the other sign and else the same contents takes back. */
async function unpairedRows(): Promise<unknown[]> {
  const answer = await clickhouse.shards.all.query({
    query: `SELECT any(import_id) AS import_id, sum(sign) AS signs FROM events WHERE artifact = {artifact:UUID}
      GROUP BY cityHash64(* EXCEPT (sign)) HAVING signs != 0`,
    query_params: { artifact: artifact.id },
    format: "JSONEachRow",
  });
  return answer.json();
}

async function expectLive(versions: readonly Version[]): Promise<void> {
  expect(await countLive(clickhouse, artifact.id)).toEqual({ live: versions.length, notOnce: 0 });
  expect(await makeAllSets(clickhouse)).toEqual([]);
  await expectAnswered(versions);
}

describe("settlement", () => {
  const chunksAt = (random: Random, imports: readonly string[]) =>
    Array.from({ length: 10 }, (_, index) => {
      const importId = random.pick(imports);
      const stamp = STAMP + (random.chance(0.2) ? 5 : index * 10);
      return Array.from({ length: 20 }, (_, line) =>
        versionOf(`e${random.below(40)}`, { importId, stamp, line, variant: random.below(12) }),
      );
    });

  test.each(TEST_SEEDS)(
    "ends with the latest version of each event live once, whatever came when and how often (seed %d)",
    async (seed) => {
      const random = new Random(seed);
      useArtifact(random.pick(["docker", "other"]));
      const imports: string[] = [randomUUID(), randomUUID(), randomUUID()];
      const retracted = new Set(random.chance(0.5) ? [random.pick(imports)] : []);
      const marked = new Set<string>();
      const chunks = chunksAt(random, imports);
      // In any order, and a third of them once more.
      const arrivals = shuffled([...chunks, ...chunks.filter(() => random.chance(0.33))], random);
      const steps = arrivals.map((chunk) => async () => {
        await insert(chunk);
        const scopes = imports.filter(() => random.chance(0.2));
        const events = random.pick([1, 1_000]);
        for (const importId of scopes) await settleAll(importId, { retracted: marked.has(importId), events });
      });
      const retractions = [...retracted].map((importId) => async () => {
        await markRetracted(clickhouse.shards, [importId]);
        marked.add(importId);
      });
      const merges = ["events", "event_ids", "totals"].map(
        (table) => () => onEveryServer(clickhouse.servers, `OPTIMIZE TABLE ${table} FINAL`),
      );
      for (const step of shuffled([...steps, ...retractions, ...merges], random)) await step();
      const settleOne = (importId: string) => settleAll(importId, { retracted: retracted.has(importId) });
      for (const importId of shuffled(imports, random)) await settleOne(importId);
      const live = liveOf(chunks.flat(), retracted);
      await expectAnswered(live);
      await expectLive(live);
      for (const importId of imports) expect(await settleOne(importId)).toBe(0);
      expect(journal.staged.size).toBe(0);
    },
  );

  test("looks only at the events of its chunks", async () => {
    const importId = randomUUID();
    const versions = [0, 1, 2, 3].map((index) =>
      versionOf(`e${index % 2}`, { importId, stamp: STAMP + index, line: index, variant: index }),
    );
    for (const version of versions) await insert([version]);
    expect(await settleAll(importId, { from: STAMP + 2, to: STAMP + 2 })).toBe(1);
    await expectLive(versions.slice(1));
  });

  test("settles the chunks of several imports together, each in its own stamps", async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const versions = [first, second, third].flatMap((importId, index) =>
      ["a", "b"].map((key, line) =>
        versionOf(`${key}${index % 2}`, { importId, stamp: STAMP + index, line, variant: 2 * index + line }),
      ),
    );
    await insert(versions.slice(0, 2));
    await insert(versions.slice(2));
    const chunks = [
      { importId: second, stamp: STAMP + 1, events: 2 },
      { importId: third, stamp: STAMP + 1, events: 2 },
    ];
    const settleChunks = (some: typeof chunks) =>
      settle(clickhouse.shards, { chunks: some, retracted: false }, { batch: randomUUID(), owner: journal });
    expect(await settleChunks(chunks)).toBe(0);
    const all = [...chunks, { importId: third, stamp: STAMP + 2, events: 2 }];
    expect(await settleChunks(all)).toBe(2);
    await expectLive(versions.slice(2));
  });

  test("removes a row with all that it has, also in a column of a later release", async () => {
    // Replicas share a change of one of them, and it has to be done before the next one.
    const alter = (change: string) =>
      onEveryServer(clickhouse.servers, `ALTER TABLE events ${change} SETTINGS alter_sync = 2`);
    await alter("ADD COLUMN IF NOT EXISTS later UInt64 DEFAULT rand64()");
    onTestFinished(() => alter("DROP COLUMN IF EXISTS later"));
    const [earlier, later] = [randomUUID(), randomUUID()];
    await insert([versionOf("e", { importId: earlier, variant: 1 })]);
    await insert([versionOf("e", { importId: later, stamp: STAMP + 1 })]);
    expect(await settleAll(later)).toBe(1);
    expect(await unpairedRows()).toEqual([{ import_id: later, signs: 1 }]);
  });

  test("leaves an erased version erased whose event is only looked at because it shares bits of its id", async () => {
    const importId = randomUUID();
    const [erased, overridden] = await keysThatShareBits();
    const chunk = [erased, overridden].map((key, line) => versionOf(key, { importId, line }));
    await insert(chunk);
    await noteErased(erased);
    expect(await settleAll(importId)).toBe(1);
    const later = randomUUID();
    const override = versionOf(overridden, { importId: later, stamp: STAMP + 1, variant: 1 });
    await insert([override]);
    expect(await settleAll(later, MANY)).toBe(1);
    await expectLive([override]);
  });

  test("removes an erased version again that is received once more, also when its rows were merged", async () => {
    const importId = randomUUID();
    const kept = versionOf("kept", { importId });
    const chunk = [kept, versionOf("erased", { importId, line: 1 })];
    await insert(chunk);
    await noteErased("erased");
    expect(await settleAll(importId)).toBe(1);
    await insert(chunk.slice(1));
    await onEveryServer(clickhouse.servers, "OPTIMIZE TABLE event_ids FINAL");
    expect(await settleAll(importId, MANY)).toBe(1);
    await expectLive([kept]);
  });

  /** Has all versions of an event erased. */
  async function noteErased(key: string): Promise<void> {
    await onEveryServer(
      clickhouse.servers,
      `INSERT INTO erased_versions (erasure, artifact, event_id, version, import_id, date)
       SELECT generateUUIDv4(), artifact, event_id, version, import_id, date FROM event_ids
       WHERE artifact = '${artifact.id}' AND event_id = ${idOf(`'${sentKey(key)}'`)}`,
    );
  }

  /** Keys of two events whose ids share 32 bits: among so many there are about forty such pairs. */
  async function keysThatShareBits(): Promise<[string, string]> {
    const [found] = await clickhouse.rows<{ keys: [string, string] }>(`
      SELECT arraySlice(groupArray(key), 1, 2) AS keys
      FROM (SELECT toString(number) AS key FROM numbers(600000))
      GROUP BY toUInt32(${idOf(`concat('${sentKey("")}', key)`)}) HAVING count() > 1 LIMIT 1`);
    if (found === undefined) throw new Error("no two ids share 32 bits");
    return found.keys;
  }

  /** SQL: the id of the event with this key, as 01-events.sql computes it. */
  function idOf(key: string): string {
    return `reinterpretAsUInt128(sipHash128(toUUID('${artifact.id}'), ${key}))`;
  }

  test("keeps equal ids of different packages apart", async () => {
    const importId = randomUUID();
    const here = versionOf("e", { importId, variant: 1 });
    const elsewhere = { ...artifact, id: randomUUID() };
    const there = versionOf("e", { importId, line: 1, variant: 2 });
    await insert([here, { ...there, event: { ...there.event, artifact: elsewhere } }]);
    expect(await settleAll(importId)).toBe(0);
    await expectLive([here]);
  });
});

describe("a retracted import", () => {
  test("is gone, and what it had overridden is back in full", async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const versions = [first, second, third].map((importId, index) =>
      [0, 1, 2].map((event) =>
        versionOf(`e${event}`, { importId, stamp: STAMP + index, line: event, variant: 3 * index + event }),
      ),
    );
    for (const chunk of versions) await insert(chunk);
    await settleAll(third);
    await expectLive(versions[2] ?? []);
    await markRetracted(clickhouse.shards, [third]);
    expect(await settleAll(third, { retracted: true })).toBe(6);
    await expectLive(versions[1] ?? []);
    expect(await settleAll(third, { retracted: true })).toBe(0);
    await markRetracted(clickhouse.shards, [first]);
    expect(await settleAll(first, { retracted: true })).toBe(0);
    await markRetracted(clickhouse.shards, [second]);
    expect(await settleAll(second, { retracted: true })).toBe(3);
    await expectLive([]);
  });

  test("stays gone when a chunk of it comes late", async () => {
    const [kept, gone] = [randomUUID(), randomUUID()];
    const earlier = versionOf("e", { importId: kept, variant: 1 });
    await insert([earlier]);
    await markRetracted(clickhouse.shards, [gone]);
    await settleAll(gone, { retracted: true });
    const late = [
      versionOf("e", { importId: gone, stamp: STAMP + 9, variant: 2 }),
      versionOf("f", { importId: gone, stamp: STAMP + 9, line: 1, variant: 3 }),
    ];
    await insert(late);
    await settleAll(gone, { retracted: true });
    await expectLive([earlier]);
  });
});

describe("after a crash", () => {
  let importId: string;
  let versions: Version[];
  let latest: Version[];

  beforeEach(async () => {
    importId = randomUUID();
    versions = Array.from({ length: 30 }, (_, line) =>
      versionOf(`e${line % 10}`, { importId, line, variant: line % 13 }),
    );
    latest = liveOf(versions, new Set());
    await insert(versions);
  });

  test.each([
    ["before", "putStagedBatch", 30],
    ["after", "closeBatch", 10],
  ] as const)(
    "a batch cut short %s it was applied counts once, also when ClickHouse forgot its token",
    async (_, step, live) => {
      const dying = async (batch: string) => {
        journal.staged.add(batch);
        throw new Error("the program died");
      };
      const owner = { ...journal, [step]: dying };
      await expect(settleAll(importId, { owner })).rejects.toThrow("the program died");
      expect(await countLive(clickhouse, artifact.id)).toEqual({ live, notOnce: 0 });
      const others = [1, 2].map((line) => versionOf(`f${line}`, { importId, stamp: STAMP + 1, line }));
      await rememberTokensOf(1);
      for (const other of others) await insert([other]);
      await rememberTokensOf(10_000);
      await recountStaged(clickhouse.shards, journal);
      expect(await settleAll(importId, { to: STAMP })).toBe(live - latest.length);
      await expectLive([...latest, ...others]);
      expect(journal.staged).toEqual(new Set());
    },
  );

  test("a batch that was not noted is found again, and nothing is removed twice", async () => {
    const dying = { ...journal, putStagedBatch: () => Promise.reject(new Error("the program died")) };
    await expect(settleAll(importId, { owner: dying })).rejects.toThrow("the program died");
    expect(await settleAll(importId)).toBe(20);
    await expectLive(latest);
  });

  test("between the rows and a view of a settlement each event counts once", async () => {
    const restore = await breakView(clickhouse.servers, "breakdown_values_view");
    onTestFinished(restore);
    await expect(settleAll(importId)).rejects.toThrow("broken by a test");
    await restore();
    await recountStaged(clickhouse.shards, journal);
    await settleAll(importId);
    await expectLive(latest);
  });
});

/** Sets how many inserts event_ids knows the tokens of. */
function rememberTokensOf(inserts: number): Promise<void> {
  const settings = ["non_replicated", "replicated"].map(
    (kind) => `${kind}_deduplication_window = ${inserts}`,
  );
  return onEveryServer(clickhouse.servers, `ALTER TABLE event_ids MODIFY SETTING ${settings.join(", ")}`);
}

describe("an insert that is repeated with its token", () => {
  test("changes nothing in any table", async () => {
    const importId = randomUUID();
    const chunk = Array.from({ length: 50 }, (_, line) =>
      versionOf(`e${line}`, { importId, line, variant: line % 7 }),
    );
    for (let time = 0; time < 3; time += 1) await insert(chunk, `repeated ${importId}`);
    await expectLive(chunk);
    const [written] = await clickhouse.rows(
      `SELECT toUInt32(count()) AS rows FROM import_events WHERE import_id = '${importId}'`,
    );
    expect(written).toEqual({ rows: 50 });
  });

  // Replicas keep tokens in their keeper, whatever becomes of parts.
  test.skipIf(suiteServers() !== undefined)(
    "changes nothing after its rows were retracted and merged away",
    async () => {
      const command = (query: string) => clickhouse.client.command({ query });
      // Empty, so that a merge has only rows that add up to 0.
      await command("TRUNCATE TABLE breakdown_values");
      await command(`ALTER TABLE breakdown_values MODIFY SETTING cleanup_delay_period = 1, max_cleanup_delay_period = 1,
      cleanup_delay_period_random_add = 0`);
      // The table takes these settings when it is opened.
      await command("DETACH TABLE breakdown_values");
      await command("ATTACH TABLE breakdown_values");
      const importId = randomUUID();
      const chunk = [0, 1, 2].map((line) => versionOf(`e${line}`, { importId, line, variant: line }));
      await insert(chunk, `merged ${importId}`);
      await markRetracted(clickhouse.shards, [importId]);
      expect(await settleAll(importId, { retracted: true })).toBe(3);
      await command("OPTIMIZE TABLE breakdown_values FINAL");
      // ClickHouse removes empty parts when it removes those that were merged.
      const merged = "SELECT name FROM system.parts WHERE table = 'breakdown_values' AND NOT active";
      await expect.poll(() => clickhouse.rows(merged)).toEqual([]);
      await insert(chunk, `merged ${importId}`);
      await expectLive([]);
      const open = await clickhouse.rows(`SELECT name FROM system.tables WHERE database = currentDatabase()
      AND engine_full LIKE '%deduplication_window%' AND engine_full NOT LIKE '%remove_empty_parts = 0%'`);
      expect(open).toEqual([]);
    },
  );

  test("has the same values in events and all views after a recount, where it was repeated with others", async () => {
    const importId = randomUUID();
    const lines = Array.from({ length: 40 }, (_, line) => line);
    const first = lines.map((line) => versionOf(`e${line}`, { importId, line, variant: line % 7 }));
    const repeated = lines.map((line) => versionOf(`e${line}`, { importId, line, variant: 7 + (line % 7) }));
    const restore = await breakView(clickhouse.servers, "breakdown_values_view");
    onTestFinished(restore);
    await expect(insert(first, `cut ${importId}`)).rejects.toThrow("broken by a test");
    await restore();
    await insert(repeated, `cut ${importId}`);
    for (let time = 0; time < 2; time += 1)
      for (const shard of clickhouse.shards.shards) await recount(shard, versionsOfChunks([STAMP]), journal);
    await expectLive(first);
  });

  test("completes every view that a crash cut short, and keeps the rows once", async () => {
    const [server] = clickhouse.servers;
    const views =
      (await server?.rows<{ name: string }>(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'",
      )) ?? [];
    expect(views.length).toBeGreaterThan(5);
    for (const { name } of views) {
      // Versions are of images, variables of files.
      const packages = (["docker", "other"] as const).map((type) => useArtifact(type));
      const importId = randomUUID();
      const chunk = packages.flatMap((each, place) =>
        Array.from({ length: 40 }, (_, index) => {
          const line = place * 40 + index;
          const version = versionOf(`e${index % 20}`, { importId, line, variant: index % 7 });
          return { ...version, event: { ...version.event, artifact: each } };
        }),
      );
      const restore = await breakView(clickhouse.servers, name);
      onTestFinished(restore);
      await expect(insert(chunk, `cut ${importId}`)).rejects.toThrow("broken by a test");
      await restore();
      for (let time = 0; time < 2; time += 1) await insert(chunk, `cut ${importId}`);
      // Settlement reads two of the views.
      expect(await settleAll(importId)).toBe(40);
      const live = liveOf(chunk, new Set());
      await expectAnswered(live, packages);
      expect(await countLive(clickhouse, artifact.id)).toEqual({ live: 20, notOnce: 0 });
    }
  });
});

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, order: random.share() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
