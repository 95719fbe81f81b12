import { randomUUID } from "node:crypto";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import {
  type ErasedClient,
  countErased,
  differsFromEvents,
  eraseClient,
  liveStampOf,
  mergeAddresses,
  recountErased,
} from "../../../../aggregate/erasures/erase-client.js";
import { hideErased, openRows } from "../../../../aggregate/queries/open-rows.js";
import { recount, versionsOfChunks } from "../../../../aggregate/settlement/recount.js";
import { NIL_UUID } from "../../../../schemas/formats.js";
import { Random } from "../../../../deploy/demo/random.js";
import {
  artifact,
  clientIdOf,
  expectAnswered,
  expectCounted,
  insert,
  journal,
  liveOf,
  settleAll,
  STAMP,
  useSettlement,
  type Version,
} from "../../../support/stores/settlement-world.js";
import { breakView } from "../../../support/stores/open-clickhouse.js";
import { makeAllSets } from "../../../support/stores/make-all-sets.js";
import { clickhouse } from "../../../support/stores/use-clickhouse.js";
import { TEST_SEEDS } from "../../../support/test-seeds.js";

const ADDRESSES = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
const [ERASED = ""] = ADDRESSES;

useSettlement();

/** Chunks of an import with versions of thirty events by three clients. */
function chunksFrom(random: Random, { importId, first }: { importId: string; first: number }): Version[][] {
  return Array.from({ length: 6 }, (_, index) =>
    Array.from({ length: 15 }, (__, line) => {
      const variant = random.below(6);
      const event = {
        artifact,
        key: `e${random.below(30)}`,
        time: Date.parse("2025-03-10T12:00:00Z") + (variant % 3) * 86_400_000,
        version: `v${variant}`,
        userAgent: `agent${variant % 2}`,
        address: random.pick(ADDRESSES),
        variables: new Map([["channel", `c${variant}`]]),
      };
      return { importId, stamp: STAMP + first + index * 10, line, event };
    }),
  );
}

function erasureOf(stamp: number): ErasedClient {
  const clientId = clientIdOf(ERASED);
  return { id: randomUUID(), kind: "endpoint_id", clientId, stamp, imports: [], liveStamp: null };
}

/** The live rows as statistics add them up, while the rows of the erasure are hidden. */
async function hiddenSum(erasure: string): Promise<number> {
  const { signal } = new AbortController();
  const rows = await openRows(clickhouse.client, {
    query: `SELECT toInt32(sum(sign)) AS live FROM events WHERE artifact = '${artifact.id}' FORMAT JSONEachRow`,
    params: {},
    settings: await hideErased(clickhouse.client, [erasure], signal),
    signal,
  });
  return ((await json(rows)) as { live: number }).live;
}

const scopeOf = () => ({ artifacts: [artifact.id], owner: journal });

async function countOf(table: string, where: string): Promise<number> {
  const [counted] = await clickhouse.rows<{ rows: string }>(
    `SELECT count() AS rows FROM ${table} WHERE ${where}`,
  );
  return Number(counted?.rows);
}

// By the number of events that a chunk is said to have, one statement or the other finds what differs.
test.each(TEST_SEEDS.flatMap((seed) => [1, 1_000].map((events) => ({ seed, events }))))(
  "an erased client is as if it had never been there, whatever overrode what, before and after (seed $seed, chunks of $events)",
  async ({ seed, events }) => {
    const random = new Random(seed);
    const [before, after] = [randomUUID(), randomUUID()];
    const first = chunksFrom(random, { importId: before, first: 0 });
    for (const chunk of first) await insert(chunk);
    if (random.chance(0.7)) await settleAll(before, { events });
    const erasure = erasureOf(STAMP + 100);
    const scope = scopeOf();
    await makeAllSets(clickhouse);
    expect(await eraseClient(clickhouse.shards, erasure, scope)).toBe("deleting");
    expect(
      await countOf("address_numbers", `address = reinterpretAsUInt64(unhex('${erasure.clientId}'))`),
    ).toBe(0);
    await settleAll(before, { events });
    const kept = first.flat().filter(({ event }) => event.address !== ERASED);
    await expectAnswered(liveOf(kept, new Set()));
    expect(await hiddenSum(erasure.id)).toBe(liveOf(kept, new Set()).length);
    await expect.poll(() => eraseClient(clickhouse.shards, erasure, scope)).toBe("nothing");
    await expect.poll(() => mergeAddresses(clickhouse.shards, erasure.id)).toBe(false);
    const erased = first.flat().length - kept.length;
    expect(await countErased(clickhouse.shards, erasure.id)).toBe(erased);
    const clientId = `unhex('${erasure.clientId}')`;
    expect(await countOf("events", `artifact = '${artifact.id}' AND endpoint_id = ${clientId}`)).toBe(0);
    const isAddress = `address = reinterpretAsUInt64(${clientId})`;
    expect(await countOf("uniques", `package = '${artifact.id}' AND ${isAddress}`)).toBe(0);
    // What is read once more, as after a crash, does not come back; what the client sends later counts.
    const again = random.pick(first);
    await insert(again);
    const later = chunksFrom(random, { importId: after, first: 100 });
    for (const chunk of later) await insert(chunk);
    for (const importId of [before, after]) await settleAll(importId, { events });
    await expectCounted(liveOf([...kept, ...later.flat()], new Set()));
  },
);

test.each(["event_ids_view", "totals_view", "uniques_view"])(
  "an erasure that was cut short between the rows and %s counts once",
  async (view) => {
    const importId = randomUUID();
    const [chunk = []] = chunksFrom(new Random(1), { importId, first: 0 });
    await insert(chunk);
    await settleAll(importId);
    const erasure = erasureOf(STAMP + 100);
    const restore = await breakView(clickhouse.servers, view);
    onTestFinished(restore);
    await expect(eraseClient(clickhouse.shards, erasure, scopeOf())).rejects.toThrow("broken by a test");
    await restore();
    await expect.poll(() => eraseClient(clickhouse.shards, erasure, scopeOf())).toBe("nothing");
    await expectAnswered(
      liveOf(
        chunk.filter(({ event }) => event.address !== ERASED),
        new Set(),
      ),
    );
  },
);

test.each(["event_ids_view", "totals_view", "uniques_view"])(
  "erases a client of a batch that was cut short before %s, and that is repeated after rounds of the eraser",
  async (view) => {
    const importId = randomUUID();
    const [chunk = [], ...others] = chunksFrom(new Random(3), { importId, first: 0 });
    for (const other of others) await insert(other);
    await settleAll(importId);
    const erasure = erasureOf(STAMP + 100);
    await cutShort(chunk, { view, token: importId });
    for (let round = 0; round < 2; round++) await eraseClient(clickhouse.shards, erasure, scopeOf());
    await insert(chunk, importId);
    await settleAll(importId);
    await expectErased(erasure, [chunk, ...others].flat());
    expect(await settleAll(importId)).toBe(0);
  },
);

test("erases a client of a batch that is never repeated, once its versions are recounted", async () => {
  const [chunk = []] = chunksFrom(new Random(3), { importId: randomUUID(), first: 0 });
  const erasure = erasureOf(STAMP + 100);
  await cutShort(chunk, { view: "event_ids_view", token: randomUUID() });
  expect(await eraseClient(clickhouse.shards, erasure, scopeOf())).toBe("unfinished");
  await recountErased(clickhouse.shards, erasure, journal);
  await expect.poll(() => eraseClient(clickhouse.shards, erasure, scopeOf())).toBe("nothing");
  await expect.poll(() => mergeAddresses(clickhouse.shards, erasure.id)).toBe(false);
  expect(await countOf("uniques", isOf(erasure))).toBe(0);
});

test("recounts a repetition whose erased rows are gone, and tables that disagree before an erasure is done", async () => {
  const importId = randomUUID();
  const [chunk = []] = chunksFrom(new Random(3), { importId, first: 0 });
  await insert(chunk, importId);
  await settleAll(importId);
  const erasure = erasureOf(STAMP + 100);
  await expectErased(erasure, chunk);
  expect(await differsFromEvents(clickhouse.shards, erasure, undefined)).toBe(false);
  // As views that a repetition feeds, of rows that are deleted.
  const ofChunk = versionsOfChunks(chunk.map(({ stamp }) => stamp));
  for (const heal of [
    () => recountErased(clickhouse.shards, erasure, journal),
    async () => {
      for (const shard of clickhouse.shards.shards) await recount(shard, ofChunk, journal);
    },
  ]) {
    await feedViews(erasure);
    expect(await differsFromEvents(clickhouse.shards, erasure, undefined)).toBe(true);
    // Sums of days whose events were removed stay.
    expect(await differsFromEvents(clickhouse.shards, erasure, "2026-01-01")).toBe(false);
    await heal();
    expect(await differsFromEvents(clickhouse.shards, erasure, undefined)).toBe(false);
    await expectErased(erasure, chunk);
  }
});

/** Inserts a chunk, which fails between the rows of events and a view. */
async function cutShort(
  chunk: readonly Version[],
  { view, token }: { view: string; token: string },
): Promise<void> {
  const restore = await breakView(clickhouse.servers, view);
  onTestFinished(restore);
  await expect(insert(chunk, token)).rejects.toThrow("broken by a test");
  await restore();
}

/** Counts what was erased in tables of views, on the shard where it was. */
async function feedViews({ id, clientId }: ErasedClient): Promise<void> {
  const noted = `FROM erased_versions WHERE erasure = '${id}'`;
  const address = `reinterpretAsUInt64(unhex('${clientId}'))`;
  for (const { tables } of clickhouse.shards.shards)
    for (const query of [
      `INSERT INTO event_ids (artifact, event_id, version, import_id, date, live)
       SELECT artifact, event_id, version, import_id, date, 1 FROM event_ids
       WHERE (artifact, event_id, version, import_id) IN (SELECT artifact, event_id, version, import_id ${noted}) AND rows > 0
       LIMIT 1 BY artifact, event_id, version, import_id`,
      `INSERT INTO uniques (package, date, address, total) SELECT artifact, date, ${address}, 1 ${noted}`,
    ])
      await tables.command({ query });
}

const isOf = ({ clientId }: ErasedClient) =>
  `package = '${artifact.id}' AND address = reinterpretAsUInt64(unhex('${clientId}'))`;

/** Nothing is left of the client, and everything of the others. */
async function expectErased(erasure: ErasedClient, versions: readonly Version[]): Promise<void> {
  await expect.poll(() => eraseClient(clickhouse.shards, erasure, scopeOf())).toBe("nothing");
  await expect.poll(() => mergeAddresses(clickhouse.shards, erasure.id)).toBe(false);
  expect(await countOf("uniques", isOf(erasure))).toBe(0);
  const kept = versions.filter(({ event }) => event.address !== ERASED);
  await expectCounted(liveOf(kept, new Set()));
}

test("of what is behind the receipt go the imports that were running, and live events up to a stamp that is found", async () => {
  const [underWay, later] = [randomUUID(), randomUUID()];
  const ahead = 3_600_000;
  const of = (importId: string, key: string, address = ERASED): Version => ({
    importId,
    stamp: STAMP + ahead,
    line: 0,
    event: {
      artifact,
      key,
      time: Date.parse("2025-03-10T12:00:00Z"),
      version: "v1",
      userAgent: "agent",
      address,
      variables: new Map(),
    },
  });
  await insert([of(underWay, "running")]);
  await insert([of(NIL_UUID, "live")]);
  await insert([of(later, "later")]);
  const erasure = { ...erasureOf(STAMP), imports: [underWay] };
  const left = async () => {
    await expect.poll(() => eraseClient(clickhouse.shards, erasure, scopeOf())).toBe("nothing");
    return countOf("events", `artifact = '${artifact.id}'`);
  };
  expect(await left()).toBe(2);
  erasure.liveStamp = await liveStampOf(clickhouse.shards, erasure, [artifact.id]);
  expect(erasure.liveStamp).toBe(STAMP + ahead + 1);
  expect(await left()).toBe(1);
});

test("what is noted of versions is on the disk before their rows are deleted, also where no number changes", async () => {
  const importId = randomUUID();
  const time = Date.parse("2025-03-10T12:00:00Z");
  const rest = { artifact, key: "k", time, version: "v1", userAgent: "agent", variables: new Map() };
  const of = (line: number, address: string): Version => ({
    importId,
    stamp: STAMP + line,
    line,
    event: { ...rest, address },
  });
  await insert([of(0, ERASED)]);
  await insert([of(1, "192.0.2.9")]);
  await settleAll(importId, { events: 1 });
  const erasure = erasureOf(STAMP + 100);
  const noted: number[] = [];
  const sync = async () => void noted.push(await countErased(clickhouse.shards, erasure.id));
  expect(await eraseClient({ ...clickhouse.shards, sync }, erasure, scopeOf())).toBe("deleting");
  expect(noted).toEqual([1]);
});
