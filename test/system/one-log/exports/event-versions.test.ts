import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openEvents } from "../../../../aggregate/queries/open-events.js";
import { settle } from "../../../../aggregate/settlement/settle.js";
import type { UnsettledImports } from "../../../../schemas/records/unsettled-imports.js";
import { openTestClickHouse, type TestClickHouse } from "../../../support/stores/open-clickhouse.js";
import { textOf } from "../../../support/api/open-answer.js";
import type { KnownArtifact } from "../../../support/imports/recount-line.js";
import { insertChunk, openJournal, type Version } from "../../../support/stores/settlement-world.js";

const DAY_MS = 86_400_000;
const MARCH = Date.parse("2025-03-10T12:00:00Z");
const SETTLED: UnsettledImports = { imports: [], fromVersion: "0", retracted: [], changed: false };

let clickhouse: TestClickHouse;
let artifact: KnownArtifact;

beforeAll(async () => {
  clickhouse = await openTestClickHouse();
  // Merging would hide what this is about.
  await clickhouse.client.command({ query: "SYSTEM STOP MERGES events" });
});

afterAll(() => clickhouse?.[Symbol.asyncDispose]());

beforeEach(() => {
  artifact = { kind: "package", id: randomUUID(), libraryType: "docker" };
});

/** One event on one day, in the version that the text names. */
function version(importId: string, stamp: number, { key = "a", day = 0, text = "" } = {}): Version {
  const request = { userAgent: "docker", address: "192.0.2.1", variables: new Map<string, string>() };
  const event = { artifact, key, time: MARCH + day * DAY_MS, version: text, ...request };
  return { importId, stamp, line: 0, event };
}

async function exported(
  unsettled: UnsettledImports | (() => Promise<UnsettledImports>),
  endDate = "2025-04-01",
): Promise<string[]> {
  const { signal } = new AbortController();
  const artifacts = [{ id: artifact.id, packageName: "web" }];
  const range = { startDate: "2025-03-10", endDate };
  const read = typeof unsettled === "function" ? unsettled : async () => unsettled;
  const asked = { ...range, artifacts, unsettled: read, format: "ndjson" as const, signal };
  const lines = (await textOf(await openEvents(clickhouse.client, asked))).split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { version: string }).version).sort();
}

async function settleAll(importId: string, retracted = false): Promise<void> {
  const scope = { importId, firstStamp: 0, lastStamp: 1_000, retracted };
  await settle(clickhouse.client, scope, { batch: randomUUID(), owner: openJournal() });
}

describe("while an import is not settled", () => {
  test.each([0, 5])("an override %i days later is shown, and what it overrides is not", async (day) => {
    const [first, second] = [randomUUID(), randomUUID()];
    await insertChunk(clickhouse, [version(first, 1, { text: "1" })], randomUUID());
    await insertChunk(clickhouse, [version(second, 2, { text: "2", day })], randomUUID());
    const unsettled = { imports: [second], fromVersion: "0", retracted: [], changed: false };
    expect(await exported(unsettled)).toEqual(["2"]);
    // The later version is on a day that is not asked for, and the earlier one is overridden all the same.
    expect(await exported(unsettled, "2025-03-11")).toEqual(day === 0 ? ["2"] : []);
    await settleAll(second);
    expect(await exported(SETTLED)).toEqual(["2"]);
    expect(await exported(unsettled)).toEqual(["2"]);
  });

  test.each([false, true])(
    "an override that comes while an export begins is shown alone, settled %s",
    async (settled) => {
      const [first, second] = [randomUUID(), randomUUID()];
      await insertChunk(clickhouse, [version(first, 1, { text: "1" })], randomUUID());
      const unsettled = async () => {
        await insertChunk(clickhouse, [version(second, 2, { text: "2" })], randomUUID());
        if (settled) await settleAll(second);
        return { imports: settled ? [] : [second], fromVersion: "0", retracted: [], changed: true };
      };
      expect(await exported(unsettled)).toEqual(["2"]);
    },
  );

  test("an event that is retracted is not shown, and one that nobody overrides is", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await insertChunk(clickhouse, [version(first, 1, { text: "1" })], randomUUID());
    await insertChunk(clickhouse, [version(second, 2, { text: "2", key: "b" })], randomUUID());
    const unsettled = { imports: [second], fromVersion: "0", retracted: [second], changed: false };
    expect(await exported(unsettled)).toEqual(["1"]);
  });

  test("a row that was written twice is shown once", async () => {
    const first = randomUUID();
    const row = version(first, 1, { text: "1" });
    await insertChunk(clickhouse, [row], randomUUID());
    await insertChunk(clickhouse, [row], randomUUID());
    expect(await exported({ imports: [first], fromVersion: "0", retracted: [], changed: false })).toEqual([
      "1",
    ]);
    await settleAll(first);
    expect(await exported(SETTLED)).toEqual(["1"]);
  });
});

test("the latest of many overrides is shown, for each event on its own", async () => {
  const imports = Array.from({ length: 5 }, () => randomUUID());
  for (const [index, importId] of imports.entries()) {
    const text = String(index);
    const versions = ["a", "b", `only-${index}`].map((key) => version(importId, index + 1, { key, text }));
    await insertChunk(
      clickhouse,
      versions.map((each, line) => ({ ...each, line })),
      randomUUID(),
    );
    await settleAll(importId);
  }
  expect(await exported(SETTLED)).toEqual(["0", "1", "2", "3", "4", "4", "4"]);
});
