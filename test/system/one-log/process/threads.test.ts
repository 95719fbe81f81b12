import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { pino } from "pino";
import { expect, test } from "vitest";
import { parseProcStat } from "../../../../deploy/process/proc-stat.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";
import { type SupervisedThread, superviseThread } from "../../../../deploy/process/supervise-thread.js";
import { startToolchain } from "../../../support/program/start-toolchain.js";

const WORKERS = 2;

test.skipIf(process.platform !== "linux")(
  "enrichment and the embedded ClickHouse run at a lower priority, in the session of the program, where it counts",
  async () => {
    const toolchain = await startToolchain({ env: { ENRICH_WORKERS: String(WORKERS) } });
    try {
      const { pid } = toolchain;
      const own = getPriority(pid);
      const priorities = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
      const lowered = priorities.filter((priority) => priority !== own);
      expect(lowered).toEqual(Array.from({ length: WORKERS }, () => 19));
      const program = processFacts(pid);
      const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
      const engines = pids.map(processFacts).filter((one) => one.parent === program.pid && one.isEngine);
      expect(engines).toHaveLength(1);
      const [engine] = engines;
      expect(engine).toMatchObject({ session: program.session, group: engine?.pid });
      expect(getPriority(engine?.pid)).toBe(19);
    } finally {
      await toolchain.close();
    }
  },
);

function processFacts(pid: number | string) {
  try {
    const { parent, group, session } = parseProcStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const isEngine = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("clickhouse-child");
    return { pid: Number(pid), parent, group, session, isEngine };
  } catch {
    return { pid: Number(pid), isEngine: false }; // it has ended meanwhile
  }
}

type Sent = { echo: string } | { fail: true };
type Received = { ready: true; start: number } | { echoed: string };

const HEAD = `import { parentPort, workerData } from "node:worker_threads";`;
const READY = `
  parentPort.on("message", (message) => {
    if ("stop" in message) process.exit();
    if ("fail" in message) throw new Error("it broke");
    parentPort.postMessage({ echoed: message.echo });
  });
  parentPort.postMessage({ ready: true, start: workerData.start });`;

/** The first start is number 1. */
function keep(script: string, { firstPauseMs = 10, mayHangInStart = false } = {}) {
  const received: Received[] = [];
  const logged: string[] = [];
  let starts = 0;
  let ends = 0;
  const thread: SupervisedThread<Sent> = superviseThread<Sent, Received>({
    module: new URL(`data:text/javascript,${encodeURIComponent(HEAD + script)}`),
    name: "tested",
    label: "a tested thread",
    log: pino({}, { write: (line: string) => void logged.push(line) }),
    data: () => ({ start: ++starts }),
    onMessage: (message) => received.push(message),
    firstPauseMs,
    mayHangInStart,
    onEnded: () => ends++,
  });
  return { thread, received, logged, starts: () => starts, ends: () => ends };
}

test("a thread sends and receives messages until it is stopped", async () => {
  const { thread, received, ends } = keep(READY);
  expect(thread.isReady()).toBe(false);
  await thread.ready;
  expect(thread.isReady()).toBe(true);
  thread.send({ echo: "a" });
  await expect.poll(() => received).toEqual([{ ready: true, start: 1 }, { echoed: "a" }]);
  await thread[Symbol.asyncDispose]();
  expect([thread.isReady(), ends()]).toEqual([false, 1]);
});

test("a thread that breaks is restarted, and is not ready in between", async () => {
  const { thread, received, ends } = keep(READY, { firstPauseMs: 500 });
  await thread.ready;
  thread.send({ fail: true });
  await expect.poll(() => ends()).toBe(1);
  expect(thread.isReady()).toBe(false);
  await expect.poll(() => thread.isReady()).toBe(true);
  expect(received).toEqual([
    { ready: true, start: 1 },
    { ready: true, start: 2 },
  ]);
  await thread[Symbol.asyncDispose]();
});

test("a thread that fails before it is ready is not restarted, and its StartFailure is passed on", async () => {
  const failing = `const error = new Error("port 80 is taken"); error.name = "StartFailure"; throw error;`;
  const { thread, starts } = keep(failing);
  const failure: unknown = await thread.ready.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect((failure as Error).message).toBe("port 80 is taken");
  await thread[Symbol.asyncDispose]();
  expect(starts()).toBe(1);
});

test("another failure of the thread is passed on as the cause", async () => {
  const { thread } = keep(`throw new TypeError("Not found")`);
  const failure = (await thread.ready.catch((error: unknown) => error)) as Error;
  expect(failure.message).toBe("a tested thread could not start");
  expect((failure.cause as Error).message).toBe("Not found");
});

test("restarting ends after six failed starts", async () => {
  const { thread, starts } = keep(`if (workerData.start > 1) throw new Error("not again"); ${READY}`);
  await thread.ready;
  thread.send({ fail: true });
  expect((await thread.lost).message).toBe("a tested thread could not be restarted");
  expect(starts()).toBe(7);
});

test("a thread that is stopped while it waits for its restart ends at once", async () => {
  const { thread, starts, ends } = keep(READY, { firstPauseMs: 100_000 });
  await thread.ready;
  thread.send({ fail: true });
  await expect.poll(() => ends()).toBe(1);
  await thread[Symbol.asyncDispose]();
  expect(starts()).toBe(1);
});

test("a thread that hangs in its start is terminated", async () => {
  const { thread, ends } = keep(`setInterval(() => undefined, 1_000);`, { mayHangInStart: true });
  await thread[Symbol.asyncDispose]();
  expect(ends()).toBe(1);
});

test("a thread that becomes ready while it is stopped finishes its work", async () => {
  const script = `
    parentPort.once("message", () => {
      setTimeout(() => parentPort.postMessage({ ready: true, start: 1 }), 500);
      setTimeout(() => { parentPort.postMessage({ echoed: "all" }); process.exit(); }, 4_000);
    });`;
  const { thread, received } = keep(script, { mayHangInStart: true });
  await thread[Symbol.asyncDispose]();
  expect(received).toEqual([{ ready: true, start: 1 }, { echoed: "all" }]);
});

test("a thread that fails while it stops is logged", async () => {
  const { thread, logged } = keep(READY.replace("process.exit()", `throw new Error("not flushed")`));
  await thread.ready;
  await thread[Symbol.asyncDispose]();
  expect(logged.join("")).toContain("a tested thread failed while stopping");
});
