import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { pause } from "../../../schemas/async/pause.js";
import { callCollect } from "../../support/collect/collect-client.js";
import { useCollectWorld, world } from "../../support/collect/collect-world.js";
import { liveRecord } from "../../support/collect/live-record.js";
import { readMetrics } from "../../support/program/read-metrics.js";

const HOST = "load.example";
const ROUTES = [{ templatePath: "/get/{id}", outgoingUrl: "https://files.example/{id}" }];
const SENDERS = 16;
/** Events that were answered longer than this before a kill are safe. */
const FLUSH_MS = 200;
/** How long before the end answers tell how much the machine keeps waiting. */
const WATCHED_MS = 1_000;

const STAMP = Date.now();

let packageId: string;
useCollectWorld();
beforeAll(async () => {
  packageId = await world.newFilePackage({ name: "loaded", domains: [HOST], routes: ROUTES });
});

interface Load {
  /** The pause of each sender after each answer. */
  pauseMs: number;
  /** Until the end. Not a multiple of any age at which lines might be sent. */
  loadMs: number;
}

const AS_FAST_AS_ANSWERED: Load = { pauseMs: 0, loadMs: 2_000 };
const SLOWER: Load = { pauseMs: 20, loadMs: 2_370 };

interface Answered {
  id: string;
  at: number;
  tookMs: number;
}

/** Asks on kept connections until the collector is gone; answers what was answered. */
async function load(name: string, { pauseMs }: Load): Promise<Answered[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
  const url = world.toolchain.endpoints.collect;
  const answered: Answered[] = [];
  const send = async (sender: number) => {
    for (let n = 0; ; n++) {
      const id = `${name}-${sender}-${n}`;
      const askedAt = performance.now();
      const reply = await callCollect(url, { host: HOST, path: `/get/${id}`, agent }).catch(() => undefined);
      if (reply === undefined) return;
      expect(reply.status).toBe(307);
      const at = performance.now();
      answered.push({ id, at, tookMs: at - askedAt });
      if (pauseMs > 0) await pause(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  agent.destroy();
  return answered;
}

/** Ids of the events that are stored, each as often as it is. */
async function storedIds(name: string): Promise<Map<string, number>> {
  const rows = await world.clickhouse.rows<{ id: string; times: number }>(`
    SELECT variables['id'] AS id, toInt32(sum(sign)) AS times FROM events
    WHERE artifact = '${packageId}' AND id LIKE '${name}-%' GROUP BY id`);
  return new Map(rows.map(({ id, times }) => [id, times]));
}

async function killUnderLoad(name: string, signal: NodeJS.Signals, how: Load) {
  const loading = load(name, how);
  await pause(how.loadMs);
  const killedAt = performance.now();
  const ended = await world.toolchain.kill(signal);
  const answered = await loading;
  await world.toolchain.restart();
  return { killedAt, ended, answered };
}

/** Once the log has nothing more for ClickHouse. */
async function settledIds(name: string): Promise<Map<string, number>> {
  await expect.poll(async () => (await readMetrics(world.toolchain)).sum("event_log_lag_records")).toBe(0);
  return storedIds(name);
}

test("a collector that is stopped under load loses no event that it has answered", async () => {
  const { ended, answered } = await killUnderLoad("term", "SIGTERM", AS_FAST_AS_ANSWERED);
  expect(ended).toBe(0);
  expect(answered.length).toBeGreaterThan(100);
  const stored = await settledIds("term");
  expect(answered.filter(({ id }) => stored.get(id) !== 1)).toEqual([]);
});

/**
 * What a killed collector had answered in time to be safe, what of it is lost, and what is stored more than once. A
 * collector that the machine keeps waiting answers late by as much: so much earlier must an event have been answered.
 */
async function killAndCount(how: Load) {
  const name = `kill${how.pauseMs}`;
  const { killedAt, answered } = await killUnderLoad(name, "SIGKILL", how);
  const stored = await settledIds(name);
  const waits = answered.filter(({ at }) => at > killedAt - WATCHED_MS).map(({ tookMs }) => tookMs);
  const safe = answered.filter(({ at }) => at < killedAt - FLUSH_MS - Math.max(...waits));
  const lost = safe.filter(({ id }) => !stored.has(id));
  const repeated = [...stored].filter(([, times]) => times !== 1);
  return { safe, lost, repeated };
}

// Under full load chunks are full before they are old; under less their age alone has them sent.
test.each([AS_FAST_AS_ANSWERED, SLOWER])(
  "a collector that is killed under load loses at most the events of the last 200 ms: %o",
  async (how) => {
    const { safe, lost, repeated } = await killAndCount(how);
    expect(safe.length).toBeGreaterThan(100);
    expect(lost).toEqual([]);
    expect(repeated).toEqual([]);
  },
);

test("a chunk that the log took twice counts once, in one batch or in two", async () => {
  await using log = await world.toolchain.openLog();
  const record = (id: string, sequence: number, importId: string) =>
    liveRecord(`{"$time":${STAMP},"$package":"${packageId}","id":"twice-${id}"}`, {
      importId,
      sequence,
      receiptStamp: STAMP,
    });
  const [one, two] = [randomUUID(), randomUUID()];
  const to = { partition: 0 };
  await log.append([record("a", 0, one), record("a", 1, one)], to);
  await expect.poll(() => storedIds("twice")).toEqual(new Map([["twice-a", 1]]));
  await log.append([record("a", 2, one)], to);
  await log.append([record("b", 1, two)], to);
  await expect
    .poll(() => storedIds("twice"))
    .toEqual(
      new Map([
        ["twice-a", 1],
        ["twice-b", 1],
      ]),
    );
});
