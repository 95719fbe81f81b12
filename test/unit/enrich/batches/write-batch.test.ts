import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MUTEX_BYTES, sharedThreadMutex } from "../../../../enrich/batches/poison-detection.js";
import { EventBlock } from "../../../../enrich/native/event-block.js";
import { channelOf } from "../../../../schemas/fault-point.js";
import { BatchLost } from "../../../../schemas/records/event-log.js";
import { CODECS, type Codec, encodeRawChunk } from "../../../../schemas/records/raw-chunk.js";
import { IMPORT_ID, chunkOf } from "../lines/chunk-of.js";
import {
  AGENTS,
  DEATH,
  FIRST_OFFSET,
  FIRST_STAMP,
  OWNED_FOR_MS,
  TOKEN,
  packed,
  recordOf,
  throwingFor,
  withCodec,
  without,
  batchWorld,
} from "./batch-world.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("writeBatch", () => {
  test("makes a dead letter of a chunk that cannot be enriched, after three tries, and writes its neighbours", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const enriching = vi.fn(throwingFor("agent-c"));
    expect(await work({ enriching })).toBe("committed");
    expect(enriching.mock.calls.filter(([agent]) => agent === "agent-c")).toHaveLength(3);
    expect(rows()).toEqual(without("agent-c"));
    expect([...kept.stored.keys()]).toEqual([`${TOKEN}#0-without-2`, `${TOKEN}#dead-letters-2:log`]);
    expect([...kept.deadLetters.values()]).toMatchObject([
      {
        logPosition: "log:events.raw:0:7",
        partition: 0,
        offset: 7,
        importId: IMPORT_ID,
        sequence: 2,
        firstLine: 3,
        lines: 1,
        reason: "TypeError: a fault of ours",
        tries: 3,
      },
    ]);
    expect(kept.outcomes.get(2)).toMatchObject({
      deadLetter: true,
      eventsTotal: 1,
      eventsFailed: 1,
      errors: [{ class: "error", type: "dead-letter", line: 3 }],
    });
    expect([...kept.outcomes.values()].reduce((sum, { eventsImported }) => sum + eventsImported, 0)).toBe(4);
  });

  test("writes a chunk that could be enriched at the second try as if nothing had been", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const enriching = vi.fn().mockImplementationOnce(throwingFor("agent-a"));
    expect(await work({ enriching })).toBe("committed");
    expect(rows()).toEqual(AGENTS);
    expect([...kept.stored.keys()]).toEqual([`${TOKEN}#0`]);
    expect(kept.deadLetters.size).toBe(0);
  });

  test("makes a dead letter of a record that is no chunk, and names its offset", async () => {
    const garbage = Buffer.from("nothing\nof ours\n");
    const { kept, rows, work } = batchWorld([], [recordOf("agent-a", 0), garbage, recordOf("agent-c", 2)]);
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(["agent-a", "agent-c"]);
    expect([...kept.deadLetters.values()]).toMatchObject([
      { offset: 6, importId: undefined, lines: 2, record: garbage, tries: 1 },
    ]);
    expect(kept.outcomes.size).toBe(2);
  });

  const claims = (codec: string) =>
    `its lines cannot be decompressed (${codec}: it declares 4294967295 bytes)`;
  const filled = (codec: Codec) => packed("agent-b", 1, codec, (lines) => lines.fill(0xff));
  test.each([
    ["was cut off", async () => recordOf("agent-b", 1).subarray(0, -10), "", 0],
    ["has an unknown codec", async () => withCodec(recordOf("agent-b", 1), 2 * 50), "", 1],
    ["has damaged lines in lz4", () => filled("lz4"), claims("lz4"), 1],
    ["has damaged lines in brotli", () => filled("brotli"), claims("brotli"), 1],
  ])("makes a dead letter of a chunk that %s, and tells its import", async (_, damage, reason, lines) => {
    const record = await damage();
    const { kept, rows, work } = batchWorld([], [recordOf("agent-a", 0), record, recordOf("agent-c", 2)]);
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(["agent-a", "agent-c"]);
    const reads = expect.stringContaining(reason) as string;
    const letter = { offset: 6, importId: IMPORT_ID, sequence: 1, lines, record, reason: reads };
    expect([...kept.deadLetters.values()]).toMatchObject([letter]);
    const counted = { deadLetter: true, eventsTotal: lines, eventsImported: 0, eventsFailed: lines };
    expect(kept.outcomes.get(1)).toMatchObject(counted);
  });

  test.each(CODECS)("writes chunks that are compressed with %s as any other", async (codec) => {
    const { rows, kept, work } = batchWorld(
      [],
      await Promise.all(AGENTS.map((name, at) => packed(name, at, codec))),
    );
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(AGENTS);
    expect(kept.deadLetters.size).toBe(0);
  });

  test("finds the chunk whose rows ClickHouse cannot read, and writes every other one once", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const refusing = (agents: readonly string[]) => (agents.includes("agent-d") ? "117" : undefined);
    expect(await work({ refusing })).toBe("committed");
    expect(rows()).toEqual(without("agent-d"));
    expect([...kept.stored.keys()]).toEqual([
      `${TOKEN}#0.0`,
      `${TOKEN}#0.1.1`,
      `${TOKEN}#dead-letters-3:log`,
    ]);
    expect([...kept.deadLetters.values()]).toMatchObject([
      { offset: 8, tries: 3, reason: "ClickHouse rejected the rows of the chunk: refused with 117" },
    ]);
  });

  test("writes a block in the same halves again when a crash cut that short, though ClickHouse would take it now", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const refusing = (agents: readonly string[]) => (agents.includes("agent-d") ? "33" : undefined);
    let inserts = 0;
    expect(await work({ refusing, dyingAfterInsert: () => ++inserts === 2 })).toBe("died");
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(without("agent-d"));
    expect(kept.deadLetters.size).toBe(1);
  });

  test.each(["241", "210", "252", "395", "ECONNREFUSED"])(
    "makes no dead letter while ClickHouse answers %s: it is down, or has no room",
    async (code) => {
      const { kept, work } = batchWorld(AGENTS);
      expect(await work({ refusing: () => code })).toMatchObject({ name: "StillDown" });
      expect(kept.committed).toBe(false);
      expect(await work()).toBe("committed");
      expect(kept.deadLetters.size).toBe(0);
      expect([...kept.stored.keys()]).toEqual([`${TOKEN}#0`]);
    },
  );

  test("makes no dead letter while artifacts cannot be asked for, however often the program is ended meanwhile", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const down = () => Promise.reject(new Error("no database"));
    for (let round = 0; round < 5; round++) expect(await work({ resolving: down })).toBeInstanceOf(Error);
    let asked = 0;
    const dying = () => (asked++ === 0 ? down() : DEATH);
    for (let round = 0; round < 5; round++, asked = 0) expect(await work({ resolving: dying })).toBe("died");
    expect(await work()).toBe("committed");
    expect(kept.deadLetters.size).toBe(0);
    expect(rows()).toEqual(AGENTS);
  });

  test("counts crashes in the note: a chunk that ends the program is noted from the third beginning on", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    // The artifact is asked for once, for the first line: only the first record can die of it here.
    const dying = () => DEATH;
    for (let round = 0; round < 7; round++) expect(await work({ resolving: dying })).toBe("died");
    expect(kept.notes.at(-1)).toBe('{"attempts":7,"basis":"tiny 0","enriching":0,"crashes":{"0":4}}');
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(without("agent-a"));
    expect([...kept.deadLetters.values()]).toMatchObject([
      { offset: 5, reason: "the worker crashed 5 times while enriching this chunk", tries: 8 },
    ]);
  });

  test("does not add up deaths of a chunk that could be enriched in between", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const dying = () => DEATH;
    for (let round = 0; round < 6; round++) expect(await work({ resolving: dying })).toBe("died");
    expect(await work({ dyingAfterInsert: () => true })).toBe("died");
    for (let round = 0; round < 4; round++) expect(await work({ resolving: dying })).toBe("died");
    expect(await work()).toBe("committed");
    expect(kept.deadLetters.size).toBe(0);
    expect(rows()).toEqual(AGENTS);
  });

  test("does not blame a chunk for the end of a program that was told to stop, however often", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    for (let round = 0; round < 12; round++)
      expect(await work({ resolving: () => DEATH, stopped: true })).toBe("died");
    expect(kept.notes.filter((note) => note.includes('"enriching":0'))).toHaveLength(10);
    expect(kept.notes.at(-1)).toBe('{"attempts":12,"basis":"tiny 0"}');
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(AGENTS);
  });

  test("blames one chunk for the end of a process, whatever its other workers have in hand", async () => {
    const poisonous = batchWorld(AGENTS);
    const slow = batchWorld(AGENTS);
    for (let round = 0; round < 7; round++) {
      const memory = new SharedArrayBuffer(MUTEX_BYTES);
      // Neither comes to an end: the process dies while both are at their first chunk.
      const working = [poisonous, slow].map(({ work }, index) =>
        work({ resolving: () => DEATH, mutex: sharedThreadMutex(memory, index) }),
      );
      expect(await Promise.all(working)).toEqual(["died", "died"]);
    }
    expect(await Promise.all([poisonous.work(), slow.work()])).toEqual(["committed", "committed"]);
    expect([...poisonous.kept.deadLetters.values()]).toMatchObject([{ offset: FIRST_OFFSET }]);
    expect(slow.kept.deadLetters.size).toBe(0);
    expect(slow.rows()).toEqual(AGENTS);
  });

  test("finds the chunk whose rows cannot be encoded", async () => {
    const encode = Object.getOwnPropertyDescriptor(EventBlock.prototype, "encode")?.value as () => Buffer[];
    vi.spyOn(EventBlock.prototype, "encode").mockImplementation(function (this: EventBlock) {
      const block = encode.call(this);
      if (Buffer.concat(block).includes("agent-b")) throw new RangeError("too long");
      return block;
    });
    const { kept, rows, work } = batchWorld(AGENTS);
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(without("agent-b"));
    expect([...kept.deadLetters.values()]).toMatchObject([
      { offset: 6, tries: 3, reason: "the rows of the chunk cannot be encoded: too long" },
    ]);
  });

  test("goes on where many chunks cannot be stored, scattered among very many others", async () => {
    const agents = Array.from({ length: 1_000 }, (_, index) => `agent-${1_000 + index}`);
    const bad = new Set(agents.filter((_, index) => index % 125 === 60));
    const { kept, rows, work } = batchWorld(agents);
    const refusing = (found: readonly string[]) => (found.some((agent) => bad.has(agent)) ? "33" : undefined);
    expect(await work({ refusing, dyingAfterInsert: () => kept.stored.size === 30 })).toBe("died");
    expect(await work({ refusing })).toBe("committed");
    expect(rows()).toEqual(agents.filter((agent) => !bad.has(agent)));
    expect(kept.deadLetters.size).toBe(bad.size);
  });

  test("leaves all behind it out where more is wrong with a range than can be noted, and loses nothing", async () => {
    const agents = Array.from({ length: 3_000 }, (_, index) => `agent-${1_000 + index}`);
    const records = agents.map((agent, index) =>
      index % 3 === 0 ? Buffer.from("?") : recordOf(agent, index),
    );
    const { kept, rows, work } = batchWorld([], records);
    expect(await work({ dyingAfterInsert: () => true })).toBe("died");
    expect(await work()).toBe("committed");
    expect(Math.max(...kept.notes.map((note) => note.length))).toBeLessThanOrEqual(3_000);
    const dead = new Set([...kept.deadLetters.values()].map(({ offset }) => offset - FIRST_OFFSET));
    expect(rows()).toEqual(agents.filter((_, index) => !dead.has(index)));
    expect(rows().length).toBeGreaterThan(100);
    expect(agents.filter((_, index) => index % 3 === 0 && !dead.has(index))).toEqual([]);
  });

  describe("log entries that cannot be stored", () => {
    const refusedLine = () =>
      encodeRawChunk(chunkOf("nonsense of agent-b\n", { sequence: 1, receiptStamp: FIRST_STAMP + 1 }));

    test("are stored without their line texts, and stay so when a crash repeats that", async () => {
      const { kept, rows, work } = batchWorld([], [recordOf("agent-a", 0), refusedLine()]);
      const refusingLog = (agents: readonly string[]) => (agents.length > 0 ? "117" : undefined);
      expect(await work({ refusingLog, dyingAfterInsert: () => kept.stored.size === 2 })).toBe("died");
      expect(await work()).toBe("committed");
      expect(rows()).toEqual(["agent-a"]);
      expect([...kept.stored]).toEqual([
        [`${TOKEN}#0`, ["agent-a"]],
        [`${TOKEN}#0:log`, []],
      ]);
      expect(kept.outcomes.get(1)).toMatchObject({ eventsFailed: 1 });
      expect(kept.deadLetters.size).toBe(0);
    });

    test("are left out where not even their texts can be, and counted all the same", async () => {
      const { kept, work } = batchWorld([], [recordOf("agent-a", 0), refusedLine(), Buffer.from("no chunk")]);
      const refusals: unknown[] = [];
      const onLogRefused = (...told: unknown[]) => void refusals.push(told);
      expect(await work({ refusingLog: () => "33", onLogRefused })).toBe("committed");
      expect([...kept.stored.keys()]).toEqual([`${TOKEN}#0-without-2`]);
      expect(kept.outcomes.get(1)).toMatchObject({ eventsFailed: 1 });
      expect(refusals).toMatchObject([
        [{ reason: "ClickHouse rejected the rows of the chunk: refused with 33" }, "not at all"],
      ]);
    });
  });

  test("leaves out after a crash what it left out before, under the same tokens", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    const enriching = throwingFor("agent-b");
    expect(await work({ enriching, dyingAfterInsert: () => true })).toBe("died");
    const tokens = [...kept.stored.keys()];
    // Mended in between: its rows must not come under a token that stands for others.
    expect(await work()).toBe("committed");
    expect([...kept.stored.keys()].filter((token) => !token.includes(":log"))).toEqual(tokens);
    expect(rows()).toEqual(without("agent-b"));
    expect([...kept.deadLetters.values()]).toMatchObject([
      { offset: 6, reason: "TypeError: a fault of ours" },
    ]);
  });

  test("does not leave a chunk out of a block that may be stored with it: it ends, and tries again", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    expect(await work({ dyingAfterInsert: () => true })).toBe("died");
    const ended = await work({ enriching: throwingFor("agent-b") });
    expect(ended).toMatchObject({ message: expect.stringContaining("cannot be written again") as string });
    expect(kept.deadLetters.size).toBe(0);
    expect(await work()).toBe("committed");
    expect(rows()).toEqual(AGENTS);
    expect([...kept.stored.keys()]).toEqual([`${TOKEN}#0`]);
  });
});

describe("a worker that stands still right before an insert", () => {
  /** Works, and calls this before the first insert. */
  async function workWith({ work }: ReturnType<typeof batchWorld>, beforeInsert: () => void) {
    subscribe(channelOf("before-insert"), once);
    return work();
    function once(): void {
      unsubscribe(channelOf("before-insert"), once);
      beforeInsert();
    }
  }

  const STILL_MS = OWNED_FOR_MS + 1_000;
  const still = {
    "with its machine": () => vi.setSystemTime(Date.now() + STILL_MS),
    "by itself": () => vi.advanceTimersByTime(STILL_MS),
  };

  test.each(Object.entries(still))(
    "%s inserts nothing where another one has the range since then",
    async (_, stand) => {
      const tried = batchWorld(AGENTS);
      const ended = await workWith(tried, () => {
        stand();
        tried.kept.lost = true;
      });
      expect(ended).toBeInstanceOf(BatchLost);
      expect(tried.kept.stored.size).toBe(0);
    },
  );

  test.each(Object.entries(still))("%s goes on where the range is its own", async (_, stand) => {
    const tried = batchWorld(AGENTS);
    expect(await workWith(tried, stand)).toBe("committed");
    expect(tried.rows()).toEqual(AGENTS);
    expect(tried.kept.notes).toHaveLength(2);
    expect(new Set(tried.kept.notes).size).toBe(1);
  });

  test("for a moment does not ask", async () => {
    const tried = batchWorld(AGENTS);
    expect(await workWith(tried, () => vi.advanceTimersByTime(STILL_MS / 2))).toBe("committed");
    expect(tried.kept.notes).toHaveLength(1);
  });
});

describe("a ClickHouse server whose power was cut before the rows were synced", () => {
  const stamps = AGENTS.map((_, index) => FIRST_STAMP + index);

  test.each([
    ["its token without the rows", (rows: Map<string, string[]>, token: string) => rows.set(token, [])],
    [
      "the rows without their token",
      (rows: Map<string, string[]>, token: string) =>
        rows.set(`forgotten ${token}`, AGENTS) && rows.delete(token),
    ],
  ])("has kept %s: they are written once more, count once and are recounted", async (_, cut) => {
    const { kept, rows, work } = batchWorld(AGENTS);
    let isCut = false;
    const startedAt = () => {
      if (!isCut) for (const token of [...kept.stored.keys()]) cut(kept.stored, token);
      isCut ||= kept.stored.size > 0;
      return isCut ? 90_000 : 1_000;
    };
    expect(await work({ startedAt })).toBe("committed");
    expect(rows()).toEqual(AGENTS);
    expect(kept.recounted).toEqual(stamps);
  });

  test("is noticed by a program that was killed meanwhile", async () => {
    const { kept, rows, work } = batchWorld(AGENTS);
    expect(await work({ startedAt: () => 1_000, dyingAfterInsert: () => true })).toBe("died");
    for (const token of kept.stored.keys()) kept.stored.set(token, []);
    expect(await work({ startedAt: () => 90_000 })).toBe("committed");
    expect(rows()).toEqual(AGENTS);
    expect(kept.recounted).toEqual(stamps);
  });

  test("has its entry of a dead letter deleted once more, which is imported now", async () => {
    const { kept, work } = batchWorld(AGENTS);
    const startedAt = () => (kept.unlogged.length > 0 ? 90_000 : 1_000);
    expect(await work({ startedAt, entries: [{ importId: IMPORT_ID, line: 7 }] })).toBe("committed");
    expect(kept.unlogged).toEqual([7, 7]);
  });

  test("is told from one that goes on, whose answers differ by less than a second", async () => {
    const { kept, work } = batchWorld(AGENTS);
    let asked = 0;
    expect(await work({ startedAt: () => 1_000 + 300 * ++asked })).toBe("committed");
    expect(kept.recounted).toEqual([]);
  });
});
