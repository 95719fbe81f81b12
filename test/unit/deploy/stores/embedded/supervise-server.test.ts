import { pino } from "pino";
import { expect, test } from "vitest";
import { type Running, superviseServer } from "../../../../../deploy/stores/embedded/supervise-server.js";

interface FakeServer extends Running {
  die(reason: string): void;
  stopped: boolean;
}

/** Starts servers numbered from 1; `fails` says which starts fail. */
function fakeServers(fails: (start: number) => boolean) {
  const servers: FakeServer[] = [];
  let starts = 0;
  let onStart: () => void = () => undefined;
  return {
    servers,
    starts: () => starts,
    nextStart: () => new Promise<void>((resolve) => (onStart = resolve)),
    async start(): Promise<Running> {
      starts += 1;
      setImmediate(onStart);
      if (fails(starts)) throw new Error(`start ${starts} failed`);
      const server = fakeServer(starts);
      servers.push(server);
      return server;
    },
  };
}

function fakeServer(pid: number): FakeServer {
  let die: (reason: string) => void = () => undefined;
  const gone = new Promise<string>((resolve) => (die = resolve));
  const server: FakeServer = {
    pid,
    gone,
    die: (reason) => die(reason),
    stopped: false,
    async stop() {
      server.stopped = true;
      die("stopped");
    },
  };
  return server;
}

const keep = (fake: ReturnType<typeof fakeServers>, pausesMs: number[]) =>
  superviseServer({
    name: "Fake",
    log: pino({ level: "silent" }),
    start: () => fake.start(),
    pausesMs,
    steadyMs: Infinity,
  });

test("starts a server again when it dies, also after a start that failed", async () => {
  const fake = fakeServers((start) => start === 2);
  const kept = await keep(fake, [0, 0, 0]);
  fake.servers[0]?.die("signal SIGKILL");
  await fake.nextStart();
  await fake.nextStart();
  expect(kept.pid).toBe(3);
  await kept.stop();
});

test("gives up after the last pause and says how the server ended", async () => {
  const fake = fakeServers((start) => start > 1);
  const kept = await keep(fake, [0, 0]);
  fake.servers[0]?.die("signal SIGSEGV");
  expect((await kept.exited).message).toContain("signal SIGSEGV");
  expect(fake.starts()).toBe(3);
});

test("does not start a server again that was stopped", async () => {
  const fake = fakeServers(() => false);
  const kept = await keep(fake, [0, 0]);
  await kept.stop();
  expect(fake.servers[0]?.stopped).toBe(true);
  expect(fake.starts()).toBe(1);
});

test("fails when the first start fails", async () => {
  await expect(
    keep(
      fakeServers(() => true),
      [0],
    ),
  ).rejects.toThrow("start 1 failed");
});
