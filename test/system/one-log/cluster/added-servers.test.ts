import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eraseArtifacts, eraseImportLogs } from "../../../../aggregate/erasures/erase-artifacts.js";
import { settle } from "../../../../aggregate/settlement/settle.js";
import type { ClickHouseSource } from "../../../../deploy/stores/clickhouse/clickhouse-source.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { connectShards } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import { prepareServers } from "../../../../deploy/stores/clickhouse/prepare-clickhouse.js";
import { pause } from "../../../../schemas/async/pause.js";
import type { ClickHouse, Shards } from "../../../../schemas/shards.js";
import { describeWithReplicas } from "../../../support/describe-or-skip.js";
import { openServersDatabase, withDatabase } from "../../../support/shards/servers-database.js";
import { type TestShards, openTestShards } from "../../../support/stores/open-test-shards.js";
import {
  type Version,
  insertChunk,
  openJournal,
  scopeBetween,
} from "../../../support/stores/settlement-world.js";

const STAMP = Date.parse("2025-06-01T00:00:00Z");
const ONE_SHARD = "CLICKHOUSE_SHARDS names 1 shards, but the cluster maintainer has 2 in remote_servers of";
const DATABASE = `test_${randomUUID().replaceAll("-", "")}`;

let several: TestShards;

beforeAll(async () => {
  several = await openTestShards();
});

afterAll(() => several?.[Symbol.asyncDispose]());

/** The list of a process that was started before the second shard was added. */
function oldList({ url, cluster }: ClickHouseSource): ClickHouseSource {
  return { url, cluster: { name: cluster?.name ?? "", shards: cluster?.shards.slice(0, 1) ?? [] } };
}

function versionOf(artifact: string, importId: string, stamp: number): Version {
  const event = {
    artifact: { kind: "package", id: artifact, libraryType: "docker" } as const,
    key: "e",
    time: Date.parse("2025-03-10T12:00:00Z"),
    version: `${stamp}`,
    userAgent: "agent",
    address: "192.0.2.1",
    variables: new Map<string, string>(),
  };
  return { importId, stamp, line: 0, event };
}

const onShard = (shards: Shards, index: number) => ({
  ...shards,
  choose: async () => shards.shards[index] ?? shards.choose(),
});

test("a process that does not know a shard settles and erases nothing, and leaves all of it to those that do", async () => {
  const { shards } = several;
  await using old = connectShards(oldList(several.source));
  const [artifact, importId] = [randomUUID(), randomUUID()];
  // An override on the shard that it does not know.
  for (const index of [0, 1])
    await insertChunk(
      { shards: onShard(shards, index) },
      [versionOf(artifact, importId, STAMP + index)],
      randomUUID(),
    );
  const scope = scopeBetween(importId, { from: STAMP, to: STAMP + 1 });
  const settling = (of: Shards) => settle(of, scope, { batch: randomUUID(), owner: openJournal() });
  await expect(settling(old)).rejects.toThrow(ONE_SHARD);
  expect(await settling(shards)).toBe(1);
  await expect(eraseArtifacts(old, [randomUUID()])).rejects.toThrow(ONE_SHARD);
  await expect(eraseImportLogs(old, [randomUUID()])).rejects.toThrow(ONE_SHARD);
});

test("a shard has its tables before other servers know it: those that do not are refused after it", async () => {
  const { url } = oldList(several.source);
  const source: ClickHouseSource = { ...oldList(several.source), url: withDatabase(url, DATABASE) };
  await expect(prepareServers(source, { lock: "alone" })).rejects.toThrow(ONE_SHARD);
  await using shards = connectShards(source);
  for (const server of shards.shards.flatMap(({ servers }) => servers)) {
    expect(await countOf(server, "events")).toBe(0);
    for (const name of [`${DATABASE}_all`, DATABASE])
      await server.command({ query: `DROP DATABASE ${name} SYNC` });
  }
});

async function countOf(clickhouse: ClickHouse, table: string): Promise<number> {
  const answer = await clickhouse.query({
    query: `SELECT count() AS rows FROM ${table}`,
    format: "JSONEachRow",
  });
  const [counted] = await answer.json<{ rows: string }>();
  return Number(counted?.rows);
}

describeWithReplicas("a new replica", (given) => {
  test("is not made of a server whose tables are not replicated, and the operator hears what to do", async () => {
    await using database = openServersDatabase(given);
    const [[first = ""] = []] = database.shards;
    await prepareServers({ url: first }, { lock: "alone" });
    await expect(prepareServers(database.source, { lock: "alone" })).rejects.toThrow(
      `of ${new URL(first).host} is not replicated: see "From one server to a first shard"`,
    );
  });

  // The servers of other shards ask the first one of a shard by choice.
  test.each([0, 1])("is read once it has fetched what its shard has, as server %d of it", async (place) => {
    await using database = openServersDatabase(given);
    const servers = database.shards[0] ?? [];
    const [made = "", kept = ""] = place === 0 ? servers : [...servers].reverse();
    await prepareServers(database.source, { lock: "alone" });
    await using shards = connectShards(database.source);
    await using server = connectClickHouse(made);
    const whole = new URL(database.whole[0] ?? "").searchParams.get("database") ?? "";
    await server.command({ query: "SYSTEM STOP FETCHES retracted_imports" });
    // As a disk that was lost, and is being fetched anew.
    await server.command({ query: `DROP DATABASE ${whole} SYNC` });
    await using other = connectClickHouse(kept);
    await other.command({
      query: "INSERT INTO retracted_imports (import_id) SELECT generateUUIDv4()",
      clickhouse_settings: { insert_quorum: "0" },
    });
    const { host } = new URL(made);
    expect(await prepareServers(database.source, { lock: "alone" })).toEqual([host]);
    // The keeper gives up a server that died after 30 s: so old are the rows of one that is made anew.
    await pause(30_000);
    // Each statement asks another server.
    for (const _ of database.whole) expect(await countOf(shards.all, "retracted_imports")).toBe(1);
    // Nor do statements about its own tables ask it: settlement would decide without what it lacks.
    await using anew = connectShards(database.source);
    const answered = await anew.shards[0]?.withAnswered(["retracted_imports"]);
    expect(await countOf(answered as ClickHouse, "retracted_imports")).toBe(1);
    await server.command({ query: "SYSTEM START FETCHES retracted_imports" });
    expect(await prepareServers(database.source, { lock: "alone" })).toEqual([]);
  });
});
