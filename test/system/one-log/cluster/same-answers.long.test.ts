import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eraseClient as eraseEvents } from "../../../../aggregate/erasures/erase-client.js";
import { openEvents } from "../../../../aggregate/queries/events/open-events.js";
import { openAggregates } from "../../../../aggregate/queries/open-aggregates.js";
import { eraseArtifacts, eraseImportLogs } from "../../../../aggregate/erasures/erase-artifacts.js";
import { markRetracted, settle } from "../../../../aggregate/settlement/settle.js";
import { Random } from "../../../../deploy/demo/random.js";
import { connectShards } from "../../../../deploy/stores/clickhouse/connect-shards.js";
import { hasRows } from "../../../../enrich/batches/chunk-rows.js";
import { insertBlock } from "../../../../enrich/batches/insert-block.js";
import { LogBlock } from "../../../../enrich/native/log-block.js";
import { BREAKDOWNS } from "../../../../schemas/contracts/aggregate.js";
import type { Shards } from "../../../../schemas/shards.js";
import { textOf } from "../../../support/api/management-world.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { allAnswers } from "../../../support/stores/all-answers.js";
import { type TestClickHouse, openTestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { type TestShards, openTestShards } from "../../../support/stores/open-test-shards.js";
import {
  clientIdOf,
  type Version,
  insertChunk,
  openJournal,
  scopeBetween,
} from "../../../support/stores/settlement-world.js";
import { TEST_SEEDS } from "../../../support/test-seeds.js";
import { chunkOf } from "../../../unit/enrich/lines/chunk-of.js";

let one: TestClickHouse;
let several: TestShards;

beforeAll(async () => {
  [one, several] = await Promise.all([openTestClickHouse(), openTestShards()]);
});

afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await several?.[Symbol.asyncDispose]();
});

const DAY_MS = 86_400_000;
const MARCH = Date.parse("2025-03-10T12:00:00Z");
const STAMP = Date.parse("2025-06-01T00:00:00Z");
const CHUNKS = 8;
/** That of the client that is erased. */
const CLIENT_ADDRESS = "192.0.2.9";
const CLIENT_ID = clientIdOf(CLIENT_ADDRESS);
const SETTLED = { imports: [], fromVersion: "0", retracted: [], changed: false };

/** What an installation goes through: the same on one server, and on shards of which each chunk goes to any. */
class History {
  readonly artifacts: KnownArtifact[] = (["docker", "other", ""] as const).map((libraryType) => ({
    kind: libraryType === "" ? "pixel" : "package",
    id: randomUUID(),
    libraryType,
  }));
  readonly imports = [randomUUID(), randomUUID(), randomUUID()];
  readonly retracted = new Set<string>();

  constructor(private readonly random: Random) {}

  /** Some events override one of another chunk, and so often one of another shard; some chunks are sent again. */
  async write(): Promise<void> {
    for (let index = 0; index < CHUNKS; index++) {
      const { random } = this;
      const importId = random.pick(this.imports);
      const versions = Array.from({ length: 25 }, (_, line) => this.version({ importId, index, line }));
      const log = logOf(importId, index);
      const token = `${importId} ${index}`;
      for (const shards of [one.shards, several.shards]) {
        const { tables } = await shards.choose();
        for (let time = random.chance(0.3) ? 2 : 1; time > 0; time--) {
          await insertChunk({ shards }, versions, token);
          await insertBlock(tables, { query: log.insertQuery, block: log.encode(), token: `${token}:log` });
        }
      }
    }
  }

  private version({ importId, index, line }: { importId: string; index: number; line: number }): Version {
    const { random } = this;
    const artifact = random.pick(this.artifacts);
    const number = random.below(40);
    return {
      importId,
      stamp: STAMP + index,
      line,
      event: {
        artifact,
        key: `e${number}`,
        time: MARCH + random.below(20) * DAY_MS,
        version: `v${random.below(5)}`,
        userAgent: `agent${random.below(4)}`,
        address: random.chance(0.1) ? CLIENT_ADDRESS : `192.0.2.${random.below(9)}`,
        variables: new Map([["channel", `c${random.below(3)}`]]),
      },
    };
  }

  /** Answers how many versions were removed or restored; the numbers of events decide between two statements. */
  async settle(importId: string, events: number): Promise<number[]> {
    const retracted = this.retracted.has(importId);
    const scope = scopeBetween(importId, { from: STAMP, to: STAMP + CHUNKS, events, retracted });
    const differing: number[] = [];
    for (const shards of [one.shards, several.shards]) {
      if (retracted) await markRetracted(shards, [importId]);
      differing.push(await settle(shards, scope, { batch: randomUUID(), owner: openJournal() }));
    }
    return differing;
  }

  /** `pending`: imports that are not settled. `erasures`: those whose versions are hidden. */
  async expectSame(
    pending: readonly string[] = [],
    erasures: readonly string[] = [],
  ): Promise<Record<string, string>> {
    const retracted = pending.filter((id) => this.retracted.has(id));
    const changed = pending.length + erasures.length > 0;
    const unsettled = { ...SETTLED, imports: pending, erasures, retracted, changed };
    const idsOf = (kind: string) => this.artifacts.filter((each) => each.kind === kind).map(({ id }) => id);
    const asked = { packages: idsOf("package"), pixels: idsOf("pixel"), imports: this.imports, unsettled };
    const expected = await allAnswers(one.shards, asked);
    expect(await allAnswers(several.shards, asked)).toEqual(expected);
    return expected;
  }
}

function logOf(importId: string, index: number): LogBlock {
  const logs = new LogBlock();
  const fault = { class: "error", type: "missing-time", message: "no time" } as const;
  for (let line = 1; line <= 3; line++)
    logs.add({
      importId,
      line: index * 10 + line,
      fault,
      bytes: Buffer.from(`{"n":${line}}`),
      loggedAt: Date.now(),
    });
  return logs;
}

describe("several shards answer what one server answers, byte for byte", () => {
  const title = "before and after overrides, a retraction and an erasure (seed %d)";
  test.each(TEST_SEEDS)(title, async (seed) => {
    const random = new Random(seed);
    const history = new History(random);
    await history.write();
    const [gone = "", unsettled = "", settled = ""] = history.imports;
    const [removed, found] = await history.settle(settled, random.pick([1, 100_000]));
    expect(found).toBe(removed);
    history.retracted.add(gone);
    const whole = await history.expectSame([gone, unsettled]);
    expect(whole["events"]?.split("\n").length).toBeGreaterThan(20);
    for (const importId of [unsettled, gone]) {
      const [expected = 0, differing] = await history.settle(importId, 1);
      expect(expected).toBeGreaterThan(0);
      expect(differing).toBe(expected);
    }
    expect(await history.settle(gone, 100_000)).toEqual([0, 0]);
    const hidden = await eraseClient(history.artifacts);
    const without = await history.expectSame([], [hidden]);
    expect(whole["events"]).toContain(CLIENT_ID);
    expect(without["events"]).not.toContain(CLIENT_ID);
    await eraseAll([history.artifacts[0]?.id ?? ""], history.imports.slice(0, 1));
    const erased = await history.expectSame();
    expect(erased["aggregates"]).not.toBe(whole["aggregates"]);
    expect(erased["events"]?.includes(history.artifacts[0]?.id ?? "")).toBe(false);
  });
});

/** Erases a client of every package and pixel. Answers the erasure. */
async function eraseClient(artifacts: readonly KnownArtifact[]): Promise<string> {
  const id = randomUUID();
  const client = { kind: "endpoint_id", clientId: CLIENT_ID } as const;
  const erasure = { id, ...client, stamp: STAMP + CHUNKS, imports: [], liveStamp: null };
  const scope = { artifacts: artifacts.map((artifact) => artifact.id), owner: openJournal() };
  for (const shards of [one.shards, several.shards])
    expect(await eraseEvents(shards, erasure, scope)).toBe(true);
  return id;
}

/** Until nothing is left on any server, as the eraser does. */
async function eraseAll(artifacts: readonly string[], imports: readonly string[]): Promise<void> {
  for (const shards of [one.shards, several.shards])
    await expect
      .poll(async () => [await eraseArtifacts(shards, artifacts), await eraseImportLogs(shards, imports)])
      .toEqual([false, false]);
}

test("rows of a chunk are found on whatever shard they lie", async () => {
  for (const [index, shard] of several.shards.shards.entries()) {
    const shards = { ...several.shards, choose: async () => shard };
    const importId = randomUUID();
    const chunk = chunkOf("", { importId, receiptStamp: STAMP + index });
    expect(await hasRows(several.shards, [chunk])).toBe(false);
    const artifact: KnownArtifact = { kind: "package", id: randomUUID(), libraryType: "docker" };
    const about = { version: "", userAgent: "", address: "192.0.2.1", variables: new Map<string, string>() };
    const event = { artifact, key: "a", time: MARCH, ...about };
    await insertChunk({ shards }, [{ importId, stamp: STAMP + index, line: 0, event }], randomUUID());
    expect(await hasRows(several.shards, [chunk])).toBe(true);
  }
});

test("a new range goes to a shard that takes inserts, and a note that names another is not followed elsewhere", async () => {
  const names = several.shards.shards.map(({ name }) => name);
  expect(names).toContain((await several.shards.choose()).name);
  expect(() => several.shards.named("gone")).toThrow("shard gone, which is missing from CLICKHOUSE_SHARDS");
});

describe("while a shard is down", () => {
  const { signal } = new AbortController();
  const range = { startDate: "2025-03-01", endDate: "2025-04-15", signal };
  const aggregates = (shards: Pick<Shards, "all">) =>
    openAggregates(shards.all, {
      ...range,
      packages: [{ id: randomUUID(), name: "", libraryType: "docker" }],
      breakdowns: BREAKDOWNS,
      isSharded: true,
    });

  test("every export fails before its first byte, and new ranges go to the other", async ({ skip }) => {
    if (several.end === undefined) return skip();
    await several.end(1);
    await expect(aggregates(several.shards).then(textOf)).rejects.toThrow();
    const artifacts = [{ id: randomUUID(), packageName: "" }];
    const asked = { ...range, artifacts, unsettled: async () => SETTLED, format: "csv" as const };
    await expect(openEvents(several.results, asked)).rejects.toThrow();
    await using shards = connectShards(several.source);
    expect((await shards.choose()).name).toBe("a");
  });
});
