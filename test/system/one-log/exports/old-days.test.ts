import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { removeEvents } from "../../../../aggregate/retention/remove-old-rows.js";
import { clickhouse, useClickHouse } from "../../../support/stores/use-clickhouse.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { insertChunk, type Version } from "../../../support/stores/settlement-world.js";

const artifact: KnownArtifact = { kind: "package", id: randomUUID(), libraryType: "docker" };

useClickHouse();
beforeAll(() => insertChunk(clickhouse, eventOfEachMonth(), "all months"));

const MONTHS = (2027 - 1970) * 12;

/** On the second day of each month from 1970 to 2026. */
function eventOfEachMonth(): Version[] {
  const importId = randomUUID();
  return Array.from({ length: MONTHS }, (_, month) => {
    const request = { userAgent: "docker", address: "192.0.2.1", variables: new Map<string, string>() };
    const event = { artifact, key: `${month}`, time: Date.UTC(1970, month, 2), version: "1", ...request };
    return { importId, stamp: 1, line: month, event };
  });
}

/** Those of the server that has them: an insert goes to one shard. */
async function partsOfEvents(): Promise<Set<string>> {
  const query =
    "SELECT partition_id AS id FROM system.parts WHERE database = currentDatabase() AND table = 'events' AND active AND rows > 0";
  const parts = await Promise.all(clickhouse.servers.map((server) => server.rows<{ id: string }>(query)));
  return new Set(parts.flat().map(({ id }) => id));
}

const daysOf = (table: string) =>
  clickhouse.rows<{ rows: number; first: string }>(
    `SELECT count() AS rows, toString(min(date)) AS first FROM ${table}`,
  );

test("an insert of events of all months since 1970 makes a part for each decade before 2025 and each month after", async () => {
  expect(await partsOfEvents()).toHaveProperty("size", 6 + 2 * 12);
  expect(await daysOf("events")).toEqual([{ rows: MONTHS, first: "1970-01-02" }]);
});

test("retention removes whole decades and months at once, and the days of a decade that has kept ones too", async () => {
  const removed = await removeEvents(clickhouse.shards, { before: "2023-05-01", openBatches: [] });
  const gone = (2023 - 1970) * 12 + 4;
  expect(removed?.rows).toBe(gone);
  const kept = [{ rows: MONTHS - gone, first: "2023-05-02" }];
  await expect.poll(() => daysOf("events")).toEqual(kept);
  await expect.poll(() => daysOf("event_ids")).toEqual(kept);
  expect(await removeEvents(clickhouse.shards, { before: "2023-05-01", openBatches: [] })).toMatchObject({
    rows: 0,
  });
  expect((await removeEvents(clickhouse.shards, { before: "2026-01-01", openBatches: [] }))?.rows).toBe(
    2 * 12 + 12 - 4,
  );
  expect(await daysOf("events")).toEqual([{ rows: 12, first: "2026-01-02" }]);
});
