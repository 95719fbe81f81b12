import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeSets, readStaleDays } from "../../../../aggregate/address-sets/make-sets.js";
import { removeEvents } from "../../../../aggregate/retention/remove-old-rows.js";
import { startAddressSets } from "../../../../aggregate/address-sets/start-address-sets.js";
import { type AdoptionQuery, readAdoption } from "../../../../aggregate/statistics/read-adoption.js";
import { makeAllSets } from "../../../support/stores/make-all-sets.js";
import { addressesOf, EVERYTHING, expectOwnNumbers } from "../../../support/stores/expect-addresses.js";
import {
  artifact,
  expectAnswered,
  expectCounted,
  insert,
  settleAll,
  STAMP,
  useSettlement,
  type Version,
} from "../../../support/stores/settlement-world.js";
import { clickhouse } from "../../../support/stores/use-clickhouse.js";
import { suiteServers } from "../../../support/shards/given-servers.js";

useSettlement();

interface Lines {
  versions?: readonly string[];
  agents?: readonly string[];
  stamp?: number;
}

/** Events of a day, one from each address. Odd addresses are of robots unless agents are given. */
function chunkOf(
  day: number,
  addresses: readonly number[],
  { versions = [], agents = [], stamp = STAMP }: Lines = {},
): Version[] {
  const importId = randomUUID();
  return addresses.map((address, line) => ({
    importId,
    stamp,
    line,
    event: {
      artifact,
      key: `${day} ${line}`,
      time: Date.parse(`2025-03-0${day}T12:00:00Z`),
      version: versions[line] ?? "v1",
      userAgent: agents[line] ?? `agent${address % 2}`,
      address: `192.0.2.${address}`,
      variables: new Map(),
    },
  }));
}

const days = () => readStaleDays(clickhouse.client);
const alone = <T>(work: () => Promise<T>): Promise<T> => work();
const dependencies = () => ({ shards: clickhouse.shards, whileNumbering: alone, onFailure: () => undefined });

// Several servers have no sets.
test.skipIf(suiteServers() !== undefined)(
  "sets without their numbers do not hold, and the job makes them anew, also where it was cut short",
  async () => {
    const first = chunkOf(1, [1, 2, 3]);
    const second = chunkOf(2, [3, 2, 4]);
    await insert(first);
    await expectCounted(first);
    await clickhouse.client.command({ query: "TRUNCATE TABLE address_numbers" });
    await insert(second);
    await expectAnswered([...first, ...second]);
    const cut = { ...clickhouse.shards, sync: () => Promise.reject(new Error("killed")) };
    const newest = (await days()).filter(({ date }) => date === "2025-03-02");
    await expect(makeSets(cut, clickhouse.client, newest)).rejects.toThrow("killed");
    {
      await using _job = startAddressSets({ ...dependencies(), everyMs: 1 });
      await expect.poll(days).toEqual([]);
    }
    await expectCounted([...first, ...second]);
  },
);

test.skipIf(suiteServers() !== undefined)("no address gets two numbers, however many give them", async () => {
  const versions = chunkOf(3, [5, 6, 7, 8, 9]);
  await insert(versions);
  const stale = await days();
  await Promise.allSettled(
    Array.from({ length: 8 }, () => makeSets(clickhouse.shards, clickhouse.client, stale)),
  );
  await expectOwnNumbers(clickhouse);
  await expectCounted(versions);
});

const cycled = <T>(values: readonly T[], length: number) =>
  Array.from({ length }, (_, line) => values[line % values.length] as T);
/** Sets are read where they have most of the downloads. */
const MOST = 7_000;

async function addressesByVersion(query: Pick<AdoptionQuery, "automated" | "versions">) {
  const asked = { ...EVERYTHING, ...query, packages: [artifact.id] as const };
  return Object.fromEntries((await readAdoption(clickhouse.client, asked)).addresses);
}

test("an address counts once in a group of versions, also from a day without sets and one with too many versions", async () => {
  const many = Array.from({ length: 1_001 }, (_, number) => `v2.${number}.0`);
  const whole = chunkOf(5, cycled([20, 21, 22], MOST), {
    versions: cycled(["v1.2.0", "v1.2.1", "v1.3.0"], MOST),
    // The last of the three addresses is of a person and of a robot.
    agents: cycled(["agent0", "agent1", "agent0", "agent0", "agent1", "agent1"], MOST),
  });
  await insert(whole);
  await insert(chunkOf(6, cycled([20], many.length), { versions: many }));
  expect(await makeAllSets(clickhouse)).toEqual([]);
  await insert(chunkOf(7, [20, 23, 24], { versions: ["", "v1.2.9", "v1.2.9"] }));
  expect(await addressesByVersion({ versions: "major", automated: "include" })).toEqual({
    "1.x": 5,
    "2.x": 1,
    other: 1,
  });
  expect(await addressesByVersion({ versions: "major", automated: "exclude" })).toEqual({
    "1.x": 3,
    "2.x": 1,
    other: 1,
  });
});

test("an override of the version alone counts at once", async () => {
  const kept = chunkOf(5, cycled([20, 22], MOST));
  await insert(kept);
  await insert(chunkOf(6, [20, 21]));
  await expectCounted([...kept, ...chunkOf(6, [20, 21])]);
  const later = chunkOf(6, [20, 21], { versions: ["v2", "v2"], stamp: STAMP + 1 });
  await insert(later);
  await settleAll(later[0]?.importId ?? "");
  await expectAnswered([...kept, ...later]);
});

test("those who look at a pixel count with a package, and not in the package's own statistics", async () => {
  const versions = chunkOf(4, [10, 11, 12]);
  await insert(versions);
  await expectCounted(versions);
  const pixel = randomUUID();
  await clickhouse.client.command({
    query: `INSERT INTO events (artifact, kind, time, unique_key, version, sign, endpoint_id)
SELECT '${pixel}', 'pixel', '2025-03-04 10:00:00', toString(number), number, 1, toFixedString(concat('viewer', toString(number)), 16)
FROM numbers(4)`,
  });
  const counts = (addresses: number) => [
    ["", addresses],
    ["2025-03-04", addresses],
  ];
  for (const _ of ["first", "again"]) {
    expect(await addressesOf(clickhouse.client, [artifact.id], { pixels: [pixel] })).toEqual(counts(7));
    expect(await addressesOf(clickhouse.client, [artifact.id])).toEqual(counts(3));
  }
});

test("days whose events retention removed count for no version, with a set or without", async () => {
  const kept = chunkOf(8, cycled([30], MOST)).map(({ event, ...version }) => ({
    ...version,
    event: { ...event, version: "v2", time: Date.parse("2025-04-08T12:00:00Z") },
  }));
  await insert(kept);
  await insert(chunkOf(8, [31, 32]));
  expect(await makeAllSets(clickhouse)).toEqual([]);
  await insert(chunkOf(9, [33]));
  await removeEvents(clickhouse.shards, { before: "2025-04-01", openBatches: [] });
  expect(await addressesByVersion({ versions: "exact", automated: "include" })).toEqual({ v2: 1 });
  expect(await days()).toEqual([]);
  await removeEvents(clickhouse.shards, { before: "2025-05-01", openBatches: [] });
  expect(await addressesByVersion({ versions: "exact", automated: "include" })).toEqual({});
  expect(await days()).toEqual([]);
});
