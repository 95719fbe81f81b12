import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makeSets, readStaleDays } from "../../../../aggregate/address-sets/make-sets.js";
import { startAddressSets } from "../../../../aggregate/address-sets/start-address-sets.js";
import { addressesOf, expectOwnNumbers } from "../../../support/stores/expect-addresses.js";
import {
  artifact,
  expectAnswered,
  expectCounted,
  insert,
  STAMP,
  useSettlement,
  type Version,
} from "../../../support/stores/settlement-world.js";
import { clickhouse } from "../../../support/stores/use-clickhouse.js";
import { suiteServers } from "../../../support/shards/given-servers.js";

useSettlement();

/** Events of a day, one from each address. */
function chunkOf(day: number, addresses: readonly number[]): Version[] {
  const importId = randomUUID();
  return addresses.map((address, line) => ({
    importId,
    stamp: STAMP,
    line,
    event: {
      artifact,
      key: `${line}`,
      time: Date.parse(`2025-03-0${day}T12:00:00Z`),
      version: "v1",
      userAgent: `agent${address % 2}`,
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
