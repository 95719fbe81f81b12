import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { composeEvents, openEvents } from "../../../../aggregate/queries/events/open-events.js";
import { type Rows, openRows } from "../../../../aggregate/queries/open-rows.js";
import { markRetracted } from "../../../../aggregate/settlement/settle.js";
import { Random } from "../../../../deploy/demo/random.js";
import type { UnsettledImports } from "../../../../schemas/records/settlement.js";
import { TEST_SEEDS } from "../../../support/test-seeds.js";
import { textOf } from "../../../support/api/management-world.js";
import {
  artifact,
  insert,
  settleAll,
  STAMP,
  useSettlement,
  type Version,
} from "../../../support/stores/settlement-world.js";
import { clickhouse } from "../../../support/stores/use-clickhouse.js";

const DAY_MS = 86_400_000;
const MARCH = Date.parse("2025-03-10T12:00:00Z");
const SETTLED: UnsettledImports = { imports: [], fromVersion: "0", retracted: [], changed: false };

useSettlement();

/** One event on one day, in the version that the text names. */
function version(importId: string, order: number, { key = "a", day = 0, text = "" } = {}): Version {
  const request = { userAgent: "docker", address: "192.0.2.1", variables: new Map<string, string>() };
  const event = { artifact, key, time: MARCH + day * DAY_MS, version: text, ...request };
  return { importId, stamp: STAMP + order, line: 0, event };
}

async function exported(
  unsettled: UnsettledImports | (() => Promise<UnsettledImports>),
  endDate = "2025-04-01",
): Promise<string[]> {
  const { signal } = new AbortController();
  const read = typeof unsettled === "function" ? unsettled : async () => unsettled;
  return versionsIn(await openEvents(clickhouse.client, { ...until(endDate), unsettled: read, signal }));
}

const until = (endDate: string) => ({
  startDate: "2025-03-10",
  endDate,
  artifacts: [{ id: artifact.id, packageName: "web" }],
  format: "ndjson" as const,
});

async function versionsIn(rows: Rows): Promise<string[]> {
  const lines = (await textOf(rows)).split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { version: string }).version).sort();
}

describe("while an import is not settled", () => {
  test.each([0, 5])("an override %i days later is shown, and what it overrides is not", async (day) => {
    const [first, second] = [randomUUID(), randomUUID()];
    await insert([version(first, 1, { text: "1" })]);
    await insert([version(second, 2, { text: "2", day })]);
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
      await insert([version(first, 1, { text: "1" })]);
      const unsettled = async () => {
        await insert([version(second, 2, { text: "2" })]);
        if (settled) await settleAll(second);
        return { imports: settled ? [] : [second], fromVersion: "0", retracted: [], changed: true };
      };
      expect(await exported(unsettled)).toEqual(["2"]);
    },
  );

  test("an event that is retracted is not shown, and one that nobody overrides is", async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await insert([version(first, 1, { text: "1" })]);
    await insert([version(second, 2, { text: "2", key: "b" })]);
    const unsettled = { imports: [second], fromVersion: "0", retracted: [second], changed: false };
    expect(await exported(unsettled)).toEqual(["1"]);
  });

  test("a row that was written twice is shown once", async () => {
    const first = randomUUID();
    const row = version(first, 1, { text: "1" });
    await insert([row]);
    await insert([row]);
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
    await insert(versions.map((each, line) => ({ ...each, line })));
    await settleAll(importId);
  }
  expect(await exported(SETTLED)).toEqual(["0", "1", "2", "3", "4", "4", "4"]);
});

/** A version, and what a reader of the exports may know of its import. */
interface Received extends Version {
  order: number;
}

/** Imports that are written, settled and retracted in any order, and what is to be shown meanwhile. */
class History {
  readonly received: Received[] = [];
  readonly removed = new Set<Received>();
  readonly pending = new Set<string>();
  readonly retracted = new Set<string>();
  /** The retracted imports that settlement knows of. */
  readonly marked = new Set<string>();

  latestOf(key: string, retracted: ReadonlySet<string>): Received | undefined {
    const versions = this.received.filter(
      ({ importId, event }) => event.key === key && !retracted.has(importId),
    );
    return versions.sort((a, b) => a.order - b.order).at(-1);
  }

  settle(importId: string): void {
    const keys = new Set(this.received.filter((one) => one.importId === importId).map(keyOf));
    for (const key of keys) {
      const ofKey = this.received.filter((one) => keyOf(one) === key);
      for (const one of ofKey) this.removed.add(one);
      const latest = this.latestOf(key, this.marked);
      if (latest !== undefined) this.removed.delete(latest);
    }
    this.pending.delete(importId);
  }

  /** Of each event the latest version that is not retracted; one that has to be restored is shown once it is. */
  shown(): string[] {
    const latest = [...new Set(this.received.map(keyOf))].flatMap((key) => {
      return this.latestOf(key, this.retracted) ?? [];
    });
    return latest
      .filter((one) => !this.removed.has(one))
      .map(({ event }) => event.version)
      .sort();
  }

  unsettled(changed: boolean): UnsettledImports {
    const imports = [...this.pending];
    const retracted = imports.filter((id) => this.retracted.has(id));
    return { imports, fromVersion: "0", retracted, changed };
  }
}

const keyOf = ({ event }: Version) => event.key;

/** The export as it is read when too many versions were removed for a set of them. */
async function addedUp(unsettled: UnsettledImports): Promise<string[]> {
  const composed = await composeEvents({ ...until("2025-04-10"), unsettled }, { rows: 1e9, restored: 0 });
  const { signal } = new AbortController();
  return versionsIn(await openRows(clickhouse.client, { ...composed, signal }));
}

test.each(TEST_SEEDS)(
  "an export is right after every insert, settlement and retraction, in any order (seed %d)",
  async (seed) => {
    const random = new Random(seed);
    const history = new History();
    for (let step = 1; step <= 8; step++) {
      const settled = [...new Set(history.received.map(({ importId }) => importId))].filter(
        (id) => !history.pending.has(id),
      );
      const retractable = settled.filter((id) => !history.retracted.has(id));
      if (random.chance(0.3) && history.pending.size > 0) {
        const importId = random.pick([...history.pending]);
        if (history.retracted.has(importId)) {
          await markRetracted(clickhouse.shards, [importId]);
          history.marked.add(importId);
        }
        await settleAll(importId, { retracted: history.retracted.has(importId) });
        history.settle(importId);
      } else if (random.chance(0.3) && retractable.length > 0) {
        const importId = random.pick(retractable);
        history.retracted.add(importId);
        history.pending.add(importId);
      } else {
        await receive(history, { step, random });
      }
      const changed = random.chance(0.5);
      expect(await exported(history.unsettled(changed), "2025-04-10")).toEqual(history.shown());
      expect(await addedUp(history.unsettled(changed))).toEqual(history.shown());
    }
  },
);

/** Some events come once more, in part on other days; some rows are written twice. */
async function receive(history: History, { step, random }: { step: number; random: Random }): Promise<void> {
  const importId = randomUUID();
  const keys = ["a", "b", "c", "d", "e", "f"].filter(() => random.chance(0.5));
  const versions = keys.map((key, line) => {
    const day = random.pick([0, 1, 25]);
    return { ...version(importId, step, { key, day, text: `${key}${step}` }), line, order: step };
  });
  if (versions.length === 0) return;
  await insert(versions);
  if (random.chance(0.3)) await insert(versions);
  history.received.push(...versions);
  history.pending.add(importId);
}
