import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { open as openLmdb } from "lmdb";
import { afterAll, describe, expect, test } from "vitest";
import {
  openEmbeddedLog,
  type EmbeddedLogOptions,
} from "../../../../deploy/stores/embedded/event-log/event-log.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";
import { pause } from "../../../../schemas/async/pause.js";
import type { Arriving, ConsumeOptions, EventLog, LogBatch } from "../../../../schemas/records/event-log.js";
import {
  bytes,
  collect,
  collecting,
  deferred,
  eventLogSuite,
} from "../../../support/stores/event-log-suite.js";
import { useFolder } from "../../../support/use-folder.js";

eventLogSuite("the embedded event log", async () => {
  const dir = await newDir();
  let log = await openEmbeddedLog({ dir });
  return {
    log,
    async reopen() {
      await log[Symbol.asyncDispose]();
      return (log = await openEmbeddedLog({ dir }));
    },
    async close() {
      await log[Symbol.asyncDispose]();
    },
  };
});

describe("the embedded event log, beside that", () => {
  test("loses nothing of what it acknowledged to a process that is killed right afterwards", async () => {
    const dir = await newDir();
    const child = startChild(
      `const chunk = (n) => Buffer.alloc(200_000, String(n).padStart(8, "0"));
       for (let n = 0; ; n++) {
         await Promise.all([0, 1, 2].map((p) => log.append([chunk(3 * n + p)], { partition: p })));
         console.log(3 * n + 2);
       }`,
      dir,
    );
    const acknowledged: string[] = [];
    child.stdout.on("data", (data: Buffer) => acknowledged.push(...data.toString().trim().split("\n")));
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    child.kill("SIGKILL");
    await once(child, "close");
    const last = Number(acknowledged.at(-1));

    await using log = await openEmbeddedLog({ dir });
    const got = await collect(log, { until: last + 1, batchBytesMax: 1_000_000 });
    const seen = new Set(got.texts().map((text) => Number(text.slice(0, 8))));
    expect(Array.from({ length: last + 1 }, (_, n) => n).filter((n) => !seen.has(n))).toEqual([]);
    expect(seen.size).toBe(got.count());
  });

  test("gives what the main thread appends to two worker threads, each record to one of them once", async () => {
    const dir = await newDir();
    await using log = await openEmbeddedLog({ dir });
    const seen: string[] = [];
    const workers = await Promise.all([0, 1].map((index) => startWorker(dir, { index, of: 2 }, seen)));
    const sent = Array.from({ length: 400 }, (_, n) => `record ${n}`);
    for (let n = 0; n < sent.length; n += 8) {
      await Promise.all(
        sent.slice(n, n + 8).map((text, partition) => log.append(bytes(text.padEnd(50_000)), { partition })),
      );
    }
    await expect.poll(() => seen.length).toBe(sent.length);
    expect([...seen].sort()).toEqual([...sent].sort());
    expect(await log.lag("workers")).toBe(0);
    await Promise.all(workers.map(stopWorker));
  });

  test("an idle consumer looks when records begin to arrive, and does not wait for its next look", async () => {
    await using log = await openEmbeddedLog({ dir: await newDir() });
    const risen = deferred();
    let looks = 0;
    const arriving: Arriving = {
      value: 0,
      untilRisen: (_, { signal }) => (++looks === 1 ? risen.promise : pause(1, { signal })),
    };
    const gather = { quietMs: 1, mostMs: 1, arriving };
    const got = collecting();
    const options = { group: "g", batchBytesMax: 1_000, share: { index: 0, of: 1 }, gather };
    await using _consumer = await log.consume(options, got.take);
    await expect.poll(() => looks).toBe(1);
    await log.append(bytes("a"), { partition: 0 });
    risen.resolve();
    await got.reached(1);
    expect(got.texts()).toEqual(["a"]);
  });

  test("counts the lag of each queue alone", async () => {
    await using log = await openEmbeddedLog({ dir: await newDir() });
    await log.append(bytes("short work"), { partition: 0 });
    await log.append(bytes("one", "two"), { partition: 7 });
    expect([log.lagOfQueue?.("workers", "express"), log.lagOfQueue?.("workers", "bulk")]).toEqual([1, 2]);
  });

  test("counts the unconsumed bytes of each owner, also those of a process that was killed", async () => {
    const dir = await newDir();
    const child = startChild(
      `await log.append([Buffer.alloc(1_000), Buffer.alloc(1_000)], { partition: 0, ownerId: "acme" });
       await log.append([Buffer.alloc(50)], { partition: 0 });
       await log.append([Buffer.alloc(300)], { partition: 0, ownerId: "globex" });
       await log.append([Buffer.alloc(400)], { partition: 7, ownerId: "acme" });
       process.kill(process.pid, "SIGKILL");`,
      dir,
    );
    await once(child, "close");
    await using log = await openEmbeddedLog({ dir, retentionMs: 0, retentionEveryMs: 20 });
    const unconsumed = () =>
      Promise.all(["acme", "globex", "initech"].map(async (ownerId) => log.unconsumedBytes?.(ownerId)));
    expect(await unconsumed()).toEqual([2_400, 300, 0]);
    await log.append([Buffer.alloc(60)], { partition: 7, ownerId: "initech" });
    expect(await unconsumed()).toEqual([2_400, 300, 60]);
    await using slow = await log.consume({ ...WHOLE, group: "g" }, async (batch) => {
      await batch.commit();
      throw new Error("stops after one record");
    });
    await slow.crashed;
    expect(await unconsumed()).toEqual([1_400, 300, 60]);
    await collect(log, { until: 5, group: "g" });
    await expect.poll(() => keptOffsets(dir), POLL).toEqual([]);
    await log.append([Buffer.alloc(70)], { partition: 0, ownerId: "globex" });
    expect(await unconsumed()).toEqual([0, 70, 0]);
  });

  test("knows the unconsumed bytes of a backlog at the first look, and lets others run meanwhile", async () => {
    const dir = await newDir();
    {
      await using before = await openEmbeddedLog({ dir });
      const records = Array.from({ length: 6_000 }, () => Buffer.from("x"));
      await before.append(records, { partition: 0, ownerId: "acme" });
    }
    await using log = await openEmbeddedLog({ dir });
    let turns = 0;
    const count = () => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    expect(await log.unconsumedBytes?.("acme")).toBe(6_000);
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(3);
  });

  test("numbers each record once when two processes append to one partition at the same time", async () => {
    const dir = await newDir();
    await using log = await openEmbeddedLog({ dir });
    const child = startChild(
      `console.log("open");
       for (let n = 0; n < 300; n++) await log.append([Buffer.from("b" + n)], { partition: 0 });
       await log[Symbol.asyncDispose]();
       process.exit();`,
      dir,
    );
    const ended = once(child, "close");
    await once(child.stdout, "data");
    for (let n = 0; n < 300; n++) await log.append(bytes(`a${n}`), { partition: 0 });
    await ended;
    const got = await collect(log, { until: 600 });
    expect(got.offsets(0)).toEqual(Array.from({ length: 600 }, (_, offset) => offset));
    expect(new Set(got.texts()).size).toBe(600);
  });

  test("deletes consumed records that are too many, and gives their offsets to no other record", async () => {
    await withLog({ retentionBytes: 8 * 2_000, retentionEveryMs: 20 }, async (log, dir) => {
      const append = () => log.append([Buffer.alloc(1_000)], { partition: 0 });
      for (let n = 0; n < 10; n++) await append();
      const got = collecting();
      await using _consumer = await log.consume({ ...WHOLE, group: "one" }, got.take);
      await expect.poll(() => keptOffsets(dir), POLL).toEqual([8, 9]);
      await append();
      await got.reached(11);
      expect(got.offsets(0).at(-1)).toBe(10);
    });
  });

  test("goes on counting when every record was deleted and the log was opened again", async () => {
    await withLog({ retentionMs: 0, retentionEveryMs: 20 }, async (log, dir) => {
      await log.append(bytes("a", "b"), { partition: 0 });
      await using _consumer = await log.consume({ ...WHOLE, group: "one" }, (batch) => batch.commit());
      await expect.poll(() => keptOffsets(dir), POLL).toEqual([]);
      await log[Symbol.asyncDispose]();
      await using again = await openEmbeddedLog({ dir });
      await again.append(bytes("c"), { partition: 0 });
      expect((await collect(again, { until: 1, group: "new" })).offsets(0)).toEqual([2]);
    });
  });

  test("deletes consumed records that are too old, and never one that some group has yet to consume", async () => {
    await withLog({ retentionMs: 50, retentionEveryMs: 20 }, async (log, dir) => {
      await log.append(bytes("a", "b", "c"), { partition: 0 });
      await using slow = await log.consume({ ...WHOLE, group: "slow", batchBytesMax: 1 }, async (batch) => {
        await batch.commit();
        throw new Error("stops after one");
      });
      await slow.crashed;
      await using _fast = await log.consume({ ...WHOLE, group: "fast" }, (batch) => batch.commit());
      await expect.poll(() => keptOffsets(dir), POLL).toEqual([1, 2]);
      await pause(200);
      expect((await collect(log, { until: 2, group: "slow" })).texts()).toEqual(["b", "c"]);
    });
  });

  test("refuses an append that the disk has no room for, says why, and works again when it has", async () => {
    const dir = await newDir();
    // A limit on the size of files fails the same write in the same place as a full disk, without needing one.
    const child = startChild(
      `let acknowledged = 0;
       const fill = async () => { for (;; acknowledged++) await log.append([Buffer.alloc(1_000_000)], { partition: 0 }); };
       const reason = await fill().catch((error) => error);
       console.log(reason.message + ": " + reason.cause.message);
       process.stdin.once("data", async () => {
         await log.append([Buffer.from("after")], { partition: 1 });
         console.log("appended after " + acknowledged);
         process.exit();
       });`,
      dir,
      { fileKilobytesMax: 20_000 },
    );
    const output = outputOf(child);
    await expect.poll(output, POLL).toMatch(
      /^the event log could not be written; its disk has \S+ \S+ left: (File too large|Input\/output error)/, // the latter after half a write
    );
    await lift(child.pid ?? 0);
    child.stdin.write("go on\n");
    await once(child, "close");
    const acknowledged = Number(/appended after (\d+)/.exec(output())?.[1]);
    expect(acknowledged).toBeGreaterThan(5);

    await using log = await openEmbeddedLog({ dir });
    const got = await collect(log, { until: acknowledged + 1, batchBytesMax: 4_000_000 });
    expect(got.texts(1)).toEqual(["after"]);
    expect(got.offsets(0).length).toBe(acknowledged);
  });

  test("is not ready for appends while its disk is nearly full", async () => {
    let free = 10 * 2 ** 20;
    await using log = await openEmbeddedLog({ dir: await newDir(), freeBytes: async () => free });
    await expect(log.requireRoom?.()).rejects.toThrow("the disk of the event log has 10.0 MiB left");
    free = 1_000_000_000;
    await expect(log.requireRoom?.()).resolves.toBeUndefined();
  });

  test("says that its file was cut off, instead of ending the process", async () => {
    const dir = await newDir();
    {
      await using log = await openEmbeddedLog({ dir });
      await log.append(Array<Buffer>(8).fill(Buffer.alloc(1_000_000)), { partition: 0 });
    }
    await truncate(join(dir, "data.mdb"), 3_000_000);
    await expect(openEmbeddedLog({ dir })).rejects.toThrow(
      /data\.mdb is truncated: it has 3000000 bytes instead of \d+/,
    );
  });

  test.each([
    ["both records", (file: Buffer, page: number) => file.fill(0xa5, 0, 2 * page)],
    ["the first record", (file: Buffer, page: number) => file.fill(0xa5, 0, page)],
    ["the second record", (file: Buffer, page: number) => file.fill(0xa5, page, 2 * page)],
    ["a second record of zeros", (file: Buffer, page: number) => file.fill(0, page, 2 * page)],
    ["another version", (file: Buffer) => file.fill(1, VERSION_AT, VERSION_AT + 1)],
    ["another file", () => Buffer.from("a text")],
  ])("says that its file is damaged, instead of ending the process: %s", async (_, damage) => {
    const dir = await newDir();
    {
      await using log = await openEmbeddedLog({ dir });
      await log.append(bytes("a"), { partition: 0 });
    }
    const path = join(dir, "data.mdb");
    const file = await readFile(path);
    await writeFile(path, damage(file, file.readUInt32LE(PAGE_BYTES_AT)));
    await expect(openEmbeddedLog({ dir })).rejects.toThrow(
      /data\.mdb is damaged, or is not a file of the event log.* remove the folder/,
    );
  });

  test("begins in an empty file", async () => {
    const dir = await newDir();
    await writeFile(join(dir, "data.mdb"), "");
    await using log = await openEmbeddedLog({ dir });
    await log.append(bytes("a"), { partition: 0 });
    expect((await collect(log, { until: 1 })).texts()).toEqual(["a"]);
  });

  test("says why consuming stopped when a commit cannot be written", async () => {
    const dir = await newDir();
    const child = startChild(
      `const { execFileSync } = await import("node:child_process");
       await log.append([Buffer.from("a")], { partition: 0 });
       const consumer = await log.consume({ group: "g", batchBytesMax: 1, share: { index: 0, of: 1 } }, (batch) => {
         execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=4096:unlimited"]);
         return batch.commit();
       });
       const { message, cause } = await consumer.crashed;
       console.log(message + ": " + cause.message);
       process.exit();`,
      dir,
    );
    const output = outputOf(child);
    await once(child, "close");
    expect(output()).toMatch(/^the event log could not be written; .*: (File too large|Input\/output error)/);
  });

  test("keeps the memory of the process small while much more goes through it", async () => {
    const dir = await newDir();
    const child = startChild(
      `let left = 0, memory = 0;
       const consumer = await log.consume(
         { group: "g", batchBytesMax: 8 * 2 ** 20, share: { index: 0, of: 1 } },
         async (batch) => { await batch.commit(); left -= batch.records.length; memory = Math.max(memory, process.memoryUsage.rss()); },
       );
       for (let n = 0; n < 75; n++, left += 8) {
         await Promise.all(Array.from({ length: 8 }, (_, partition) => log.append([Buffer.alloc(2 ** 19)], { partition })));
       }
       while (left > 0) await new Promise((resolve) => setTimeout(resolve, 10));
       await consumer[Symbol.asyncDispose]();
       console.log(Math.round(memory / 2 ** 20));
       process.exit();`,
      dir,
    );
    const megabytes = outputOf(child);
    await once(child, "close");
    expect(Number(megabytes())).toBeGreaterThan(30);
    expect(Number(megabytes())).toBeLessThan(250);
  });

  test("cannot be started in a folder that cannot be written, and says which", async () => {
    const file = join(await newDir(), "file");
    await writeFile(file, "");
    const opening = openEmbeddedLog({ dir: join(file, "log") });
    await expect(opening).rejects.toThrow(StartFailure);
    await expect(opening).rejects.toThrow(`the event log in ${join(file, "log")} cannot be opened: `);
  });

  test("says that two consumers of one group share a partition, instead of giving records twice", async () => {
    await withLog({}, async (log) => {
      await log.append(bytes("a"), { partition: 0 });
      const both = deferred();
      const slowly = async (batch: LogBatch) => {
        await both.promise;
        await batch.commit();
      };
      await using one = await log.consume({ ...WHOLE, group: "g" }, slowly);
      await using two = await log.consume({ ...WHOLE, group: "g" }, slowly);
      await pause(50);
      both.resolve();
      const crash = await Promise.race([one.crashed, two.crashed]);
      expect(crash.message).toContain("also consumed by another process");
    });
  });
});

const WHOLE = { batchBytesMax: 1_000, share: { index: 0, of: 1 } };
const POLL = { interval: 20 };
/** In the first record of LMDB's state. */
const VERSION_AT = 28;
const PAGE_BYTES_AT = 48;
const BUILT_LOG = new URL("../../../../dist/deploy/stores/embedded/event-log/event-log.js", import.meta.url)
  .href;

const folder = useFolder("event-logs");
const newDir = () => mkdtemp(join(folder, "log-"));
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill("SIGKILL")));

async function withLog(
  options: Omit<EmbeddedLogOptions, "dir">,
  run: (log: EventLog, dir: string) => Promise<void>,
): Promise<void> {
  const dir = await newDir();
  const log = await openEmbeddedLog({ ...options, dir });
  try {
    await run(log, dir);
  } finally {
    await log[Symbol.asyncDispose]();
  }
}

/** The offsets of partition 0 whose records are still in the file. */
async function keptOffsets(dir: string): Promise<number[]> {
  const root = openLmdb({ path: dir, overlappingSync: false });
  try {
    return [...root.openDB({ name: "records", encoding: "binary" }).getKeys()].map(
      (key) => (key as number[])[2] ?? NaN,
    );
  } finally {
    await root.close();
  }
}

/** A process that has the log of `dir` open as `log` and runs `code`. */
function startChild(code: string, dir: string, { fileKilobytesMax }: { fileKilobytesMax?: number } = {}) {
  const open = `const { openEmbeddedLog } = await import(${JSON.stringify(BUILT_LOG)});
    const log = await openEmbeddedLog({ dir: ${JSON.stringify(dir)} });`;
  const limit = fileKilobytesMax === undefined ? "" : `ulimit -S -f ${fileKilobytesMax};`;
  const command = `${limit} exec "$0" --input-type=module --eval "$1"`;
  const child = spawn("bash", ["-c", command, process.execPath, open + code], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  children.push(child);
  return child;
}

/** What it has printed so far. */
function outputOf({ stdout }: ReturnType<typeof startChild>): () => string {
  let output = "";
  stdout.on("data", (data: Buffer) => (output += data.toString()));
  return () => output;
}

/** Lifts the limit on the size of files from a running process. */
async function lift(pid: number): Promise<void> {
  await once(spawn("prlimit", ["--pid", String(pid), "--fsize=unlimited"]), "close");
}

function startWorker(dir: string, share: ConsumeOptions["share"], seen: string[]): Promise<Worker> {
  const code = `const { parentPort } = require("node:worker_threads");
    import(${JSON.stringify(BUILT_LOG)}).then(async ({ openEmbeddedLog }) => {
      const log = await openEmbeddedLog({ dir: ${JSON.stringify(dir)} });
      const options = { group: "workers", batchBytesMax: 300_000, share: ${JSON.stringify(share)} };
      await log.consume(options, async (batch) => {
        await batch.commit();
        parentPort.postMessage(batch.records.map(({ value }) => Buffer.from(value).toString().trim()));
      });
      parentPort.on("message", () => log[Symbol.asyncDispose]().then(() => parentPort.close()));
      parentPort.postMessage([]);
    });`;
  const worker = new Worker(code, { eval: true });
  return new Promise((resolve, reject) => {
    worker.on("error", reject);
    worker.on("message", (texts: string[]) => {
      seen.push(...texts);
      resolve(worker);
    });
  });
}

async function stopWorker(worker: Worker): Promise<void> {
  worker.postMessage("stop");
  await once(worker, "exit");
}
