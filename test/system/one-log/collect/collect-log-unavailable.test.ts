import type { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRegistry } from "../../../../deploy/metrics/pipeline-metrics.js";
import { type OpenCollect, openCollect } from "../../../../deploy/roles/collect.js";
import { linesOf } from "../../../../schemas/records/chunk-codec.js";
import { type EventLog, EventLogUnavailable, type LagReader } from "../../../../schemas/records/event-log.js";
import type { PixelRecord } from "../../../../schemas/contracts/pixel.js";
import { decodeRawChunk } from "../../../../schemas/records/raw-chunk.js";
import { DEFAULT_QUOTAS } from "../../../../api/base/access/quotas.js";
import { callCollect } from "../../../support/collect/collect-client.js";
import { api, postgres, useApi } from "../../../support/api/use-world.js";

/** A log that can become unavailable, and remembers the appended records. */
function openLog() {
  const state = { isAvailable: true, lines: [] as string[] };
  const eventLog: EventLog & LagReader = {
    partitions: 8,
    async append(records) {
      if (!state.isAvailable) throw new EventLogUnavailable("no room", { cause: new Error("ENOSPC") });
      for (const record of records) {
        const text = linesOf(decodeRawChunk(record)).toString();
        state.lines.push(...text.split("\n"));
      }
    },
    consume: () => Promise.reject(new Error("nothing is consumed here")),
    ends: async () => [],
    lag: async () => 0,
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { state, eventLog };
}

const { state, eventLog } = openLog();
const registry = createRegistry();
const BUFFER_BYTES_MAX = 20_000;

let token: string;
let collect: OpenCollect;
let rowsRead = 0;
useApi(() => ({ quotas: { ...DEFAULT_QUOTAS, pixels: 200_000 } }));
beforeAll(async () => {
  token = await api.account("ada");
  const pg = countingRows(postgres.pg);
  collect = await openCollect({
    config: {
      collect: { host: "127.0.0.1", port: 0, allowPrivateUpstreams: false },
      dataDir: "data",
      logCodec: "none",
      trustedProxies: [],
    },
    stores: {
      pg,
      postgresUrl: postgres.url,
      clickhouse: undefined as never,
      eventLog: () => Promise.resolve(eventLog),
    },
    log: pino({ level: "silent" }),
    registry,
    bufferBytesMax: BUFFER_BYTES_MAX,
  });
});
afterAll(() => collect?.[Symbol.asyncDispose]());

/** The pool, with the rows of its answers counted. */
function countingRows(pool: Pool): Pool {
  const query = async (text: string, values: unknown[]) => {
    const result = await pool.query(text, values);
    rowsRead += result.rows.length;
    return result;
  };
  return Object.assign(Object.create(pool) as Pool, { query });
}

async function metric(name: string): Promise<number> {
  const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
  return values.reduce((sum, { value }) => sum + value, 0);
}

async function newPixel(name: string): Promise<string> {
  return ((await api.call(token, "POST /v2/pixels/ada", { name })).body as PixelRecord).id;
}

const view = (pixel: string, n: number) =>
  callCollect(collect.url, { path: `/a.png?x-pxid=${pixel}&page=${n}`, headers: { "User-Agent": "log/1" } });

const linesOfPixel = (pixel: string) => state.lines.filter((line) => line.includes(pixel));

/** A change is known within a second; a view before then counts for nobody. */
async function untilKnown(pixel: string): Promise<void> {
  await expect
    .poll(async () => {
      await view(pixel, 0);
      return linesOfPixel(pixel).length;
    })
    .toBeGreaterThan(0);
  await expect.poll(() => metric("collect_buffer_bytes")).toBe(0);
}

test("while the log is unavailable everything is served, what fits is kept for it, and the rest is counted as lost", async () => {
  const pixel = await newPixel("one");
  await untilKnown(pixel);
  const before = linesOfPixel(pixel).length;
  const counted = await metric("collect_events_total");
  state.isAvailable = false;
  for (let n = 1; n <= 300; n++) expect((await view(pixel, n)).status).toBe(200);
  expect((await metric("collect_events_total")) - counted).toBe(300);
  const lost = await metric("collect_events_lost_total");
  expect(lost).toBeGreaterThan(100);
  expect(await metric("collect_buffer_bytes")).toBeLessThanOrEqual(BUFFER_BYTES_MAX);

  state.isAvailable = true;
  await expect.poll(() => linesOfPixel(pixel).length - before).toBe(300 - lost);
  await expect.poll(() => metric("collect_buffer_bytes")).toBe(0);
});

/** Cuts the connection that listens for changes. Its successor comes a moment later. */
const cutListener = () =>
  postgres.pg.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like '%collect'`);

test("while PostgreSQL does not say what changes, what was known is served, and all is read when it does", async () => {
  const known = await newPixel("known");
  await untilKnown(known);
  await expect.poll(() => metric("collect_sites_fresh")).toBe(1);
  let isCut = true;
  const cutting = (async () => {
    while (isCut) await cutListener();
  })();
  await expect.poll(() => metric("collect_sites_fresh"), { interval: 5 }).toBe(0);
  const before = linesOfPixel(known).length;
  await view(known, 1);
  await expect.poll(() => linesOfPixel(known).length).toBe(before + 1);
  const meanwhile = await newPixel("meanwhile");
  isCut = false;
  await cutting;
  await expect.poll(() => metric("collect_sites_fresh")).toBe(1);
  await view(meanwhile, 1);
  await expect.poll(() => linesOfPixel(meanwhile).length).toBe(1);
});

/** So many changes are told in several pieces: what comes after the first full read may cause another one. */
async function untilAllIsRead(): Promise<void> {
  let earlier = -1;
  const isOver = async () => {
    const isSame = rowsRead === earlier && (await metric("collect_sites_fresh")) === 1;
    earlier = rowsRead;
    return isSame;
  };
  await expect.poll(isOver, { interval: 500 }).toBe(true);
}

test("after a hundred thousand pixels and ten thousand domains, one change is read alone", async () => {
  const packages = `insert into packages (id, owner_id, name, library_type, short_description)
    select gen_random_uuid(), id, 'many-' || n, 'other', 'one of many' from owners, generate_series(1, 10000) n
    where name = 'ada' returning id, name`;
  const text = `
    with made as (${packages}), domains as (
      insert into package_domains (id, package_id, name) select gen_random_uuid(), id, name || '.example' from made
    ), pixels as (
      insert into pixels (id, owner_id, name) select gen_random_uuid(), id, 'many' from owners, generate_series(1, 100000)
      where name = 'ada' returning 1
    )
    insert into package_routes (id, package_id, template_path, outgoing_url)
    select gen_random_uuid(), id, '/{+all}', '' from made`;
  await postgres.pg.query(text);
  const served = async (host: string, path = "/any") =>
    (await callCollect(collect.url, { host, path, method: "HEAD" })).status;
  await expect.poll(() => served("many-10000.example")).toBe(200);
  await expect.poll(() => served("many-1.example")).toBe(200);

  await untilAllIsRead();
  const before = rowsRead;
  await untilKnown(await newPixel("last"));
  expect(rowsRead - before).toBe(1);
});
