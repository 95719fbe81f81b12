import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AggregateV1 } from "../../../../schemas/contracts/aggregate.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { gzipMembers } from "../../../support/imports/gzip-members.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import { watchMemory } from "../../../support/program/process-memory.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { newestImport } from "../../../support/imports/start-upload.js";
import { pidsIn } from "../../../support/program/toolchain-process.js";

const ORGANIZATION = "hostile";
const TIME = '"$time":"2025-03-10T12:00:00Z"';
const MIB = 2 ** 20;
const LIMIT = "300 MiB";
/** Far below the memory that it takes to keep an entry for every line of a large body. */
const GROWTH_MIB_MAX = 250;

let path: string;
const intoAny = `/v2/${ORGANIZATION}/import`;
const figures: Record<string, string | number>[] = [];

useToolchain({
  organizations: [ORGANIZATION],
  env: { IMPORT_BYTES_MAX: LIMIT, IMPORT_BACKLOG_BYTES_MAX: "8 MiB", LOG_LEVEL: "warn" },
});
beforeAll(async () => {
  const { id } = await makePackage(api, {
    organization: ORGANIZATION,
    name: "files",
    libraryType: "other",
  });
  path = `/v2/packages/${ORGANIZATION}/${id}/import`;
  // Memory that is allocated once, at the first import, is no growth.
  await api.pollToDone(await api.importBody(path, `{${TIME}}\n`.repeat(20_000)));
});

afterAll(() => console.table(figures));

/** Does `work` and measures its cost, while other requests are answered. */
async function measured<T>(body: string, work: () => Promise<T>): Promise<T> {
  const program = watchMemory(toolchain.pid);
  const clickhouse = watchMemory(pidsIn(join(toolchain.dataDir, "clickhouse"))[0] ?? toolchain.pid);
  const working = { on: true };
  const healthy = askHealth(working);
  const began = performance.now();
  const result = await work().finally(() => (working.on = false));
  figures.push({
    body,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    "before MiB": program.beforeMiB,
    "peak MiB": program.peakMiB(),
    "growth MiB": program.peakMiB() - program.beforeMiB,
    "after MiB": program.nowMiB(),
    "ClickHouse before": clickhouse.beforeMiB,
    "ClickHouse peak": clickhouse.peakMiB(),
  });
  expect(new Set(await healthy)).toEqual(new Set([200]));
  expect(program.peakMiB() - program.beforeMiB).toBeLessThan(GROWTH_MIB_MAX);
  return result;
}

async function askHealth(working: { on: boolean }): Promise<number[]> {
  const statuses: number[] = [];
  do {
    const answer = await api.request("/healthz");
    await answer.body?.cancel();
    statuses.push(answer.status);
    await new Promise((resolve) => setTimeout(resolve, 100));
  } while (working.on);
  return statuses;
}

async function post(to: string, body: Iterable<Buffer>): Promise<{ status: number; body: EventImport }> {
  const headers = { "Content-Encoding": "gzip" };
  const answer = await api.request(to, { method: "POST", headers, body: Readable.from(body) });
  return { status: answer.status, body: (await answer.json()) as EventImport };
}

interface Flood {
  body: () => Iterable<Buffer>;
  into?: () => string;
  total: number;
  failed?: number;
  /** Type of every entry of the sample. */
  errors?: string;
  warnings?: string;
}

const longName = "k".repeat(500_000);
const manyKeys = Array.from({ length: 50_000 }, (_, key) => `"${key.toString(36)}":1`).join(",");
const dollarKeys = Array.from({ length: 64 }, (_, key) => `"$${key}":1`).join(",");
const nested = (open: string, close: string, depth: number) =>
  `{${TIME},"a":${open.repeat(depth)}1${close.repeat(depth)}}\n`;

function* distinctPackages(lines: number): Generator<Buffer> {
  for (let sent = 0; sent < lines; sent += 1_000) {
    const block = Array.from({ length: 1_000 }, () => `{"$time":1600000001,"$package":"${randomUUID()}"}\n`);
    yield gzipSync(block.join(""), { level: 1 });
  }
}

const FLOODS: Record<string, Flood> = {
  "one line of 280 MiB": {
    body: () => gzipMembers(Buffer.alloc(MIB, "x"), { bytes: 280 * MIB }),
    total: 1,
    failed: 1,
    errors: "line-too-long",
  },
  "10 million blank lines": {
    body: () => gzipMembers("\n", { bytes: 10_000_000 }),
    total: 0,
  },
  "300,000 lines of {}": {
    body: () => gzipMembers("{}\n", { bytes: 900_000 }),
    total: 300_000,
    failed: 300_000,
    errors: "missing-time",
  },
  "100,000 of the shortest events": {
    body: () => gzipMembers('{"$time":1600000001}\n', { bytes: 100_000 * 21 }),
    total: 100_000,
  },
  "10 lines of 1.1 MB": {
    body: () => gzipMembers(`${"x".repeat(1_100_000)}\n`, { bytes: 11_000_010 }),
    total: 10,
    failed: 10,
    errors: "line-too-long",
  },
  "50,000 lines refused with long messages": {
    body: () => gzipMembers(`{"$package":"${"x".repeat(90)}"}\n`, { bytes: 50_000 * 106 }),
    into: () => intoAny,
    total: 50_000,
    failed: 50_000,
    errors: "artifact-not-found",
  },
  "3,000 lines with 64 warnings each": {
    body: () =>
      gzipMembers(`{"$time":1600000001,${dollarKeys}}\n`, {
        bytes: 3_000 * `{"$time":1600000001,${dollarKeys}}\n`.length,
      }),
    total: 3_000,
    warnings: "unknown-property",
  },
  "20,000 packages that do not exist": {
    body: () => distinctPackages(20_000),
    into: () => intoAny,
    total: 20_000,
    failed: 20_000,
    errors: "artifact-not-found",
  },
  "arrays nested 300,000 deep": {
    body: () => gzipMembers(nested("[", "]", 300_000), { bytes: 1_830_000 }),
    total: 3,
    warnings: "invalid-value",
  },
  "objects nested 150,000 deep": {
    body: () => gzipMembers(nested('{"":', "}", 150_000), { bytes: 2_280_000 }),
    total: 3,
    warnings: "invalid-value",
  },
  "50,000 variables whose names share 500,000 bytes": {
    body: () => gzipMembers(`{${TIME},"${longName}":{${manyKeys}}}\n`, { bytes: 2_000_000 }),
    total: 2,
    warnings: "invalid-value",
  },
};

test("fifty thousand parts of a byte each are put together in bounded memory", async () => {
  const headers = ["Transfer-Encoding: chunked", "Connection: close"];
  const upload = await openSocket(api, { path, headers });
  const frames = Array.from('{"$time":1600000001}\n', (character) => frameOf(Buffer.from(character)));
  const answer = await measured("50,000 parts of a byte", async () => {
    for (let lines = 0; lines < 2_400; lines++) for (const frame of frames) await upload.send(frame);
    await upload.send("0\r\n\r\n");
    return upload.closed;
  });
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  const record = await api.pollToDone((await newestImport(api, ORGANIZATION)) as EventImport);
  expect(record).toMatchObject({ events_total: 2_400, events_successfully_imported: 2_400 });
});

describe("memory stays bounded, every line is counted, and others are answered, for", () => {
  test.each(Object.entries(FLOODS))("%s", async (name, flood) => {
    const { failed = 0 } = flood;
    const record = await measured(name, async () => {
      const answer = await post(flood.into?.() ?? path, flood.body());
      expect(answer.status).toBe(200);
      return api.pollToDone(answer.body);
    });
    expect(record).toMatchObject({
      status: "done",
      events_total: flood.total,
      events_failed_to_import: failed,
      events_successfully_imported: flood.total - failed,
    });
    const types = (entries: { type: string }[]) => [...new Set(entries.map(({ type }) => type))];
    expect(types(record.error_log_sample)).toEqual([flood.errors ?? []].flat());
    expect(types(record.warning_log_sample)).toEqual([flood.warnings ?? []].flat());
  });
});

test("a packed body comes into the event log no faster than it is enriched, but for its bound", async () => {
  const line = `{${TIME},"a":"${"x".repeat(1_000)}"}\n`;
  const lines = 20_000;
  const { status, body } = await post(path, gzipMembers(line, { bytes: lines * line.length }));
  expect(status).toBe(200);
  // Beside the 8 MiB four appends may be under way, and a chunk is counted once it is in ClickHouse.
  expect((lines - body.events_total) * line.length).toBeLessThan(12 * MIB);
  expect(await api.pollToDone(body)).toMatchObject({ events_total: lines });
});

describe("a dry run of", () => {
  const { "300,000 lines of {}": tiny, "20,000 packages that do not exist": packages } = FLOODS;
  test.each([
    ["300,000 lines of {}", tiny as Flood],
    ["20,000 packages that do not exist", packages as Flood],
  ])("%s holds nothing up either", async (name, flood) => {
    const answer = await measured(`dry run: ${name}`, () =>
      post(`${flood.into?.() ?? path}?dryRun=true`, flood.body()),
    );
    expect(answer).toMatchObject({
      status: 200,
      body: { dry_run: true, events_total: flood.total, events_failed_to_import: flood.failed },
    });
  });
});

describe("a body that is larger than the limit when decompressed", () => {
  const refused = { code: "too-large", message: expect.stringContaining(LIMIT) as unknown };

  test("is refused while it is still being sent, and nothing of it stays", async () => {
    const headers = ["Transfer-Encoding: chunked", "Content-Encoding: gzip"];
    const upload = await openSocket(api, { path, headers });
    const events = gzipSync(`{${TIME},"bomb":1}\n`.repeat(50_000));
    const [zeros = Buffer.alloc(0)] = gzipMembers(Buffer.alloc(MIB), { bytes: 32 * MIB });
    await upload.send(frameOf(events));
    await measured("gzip without end", async () => {
      while (upload.answered() === "") await upload.send(frameOf(zeros));
    });
    upload.breakOff();
    expect(upload.answered()).toMatch(/^HTTP\/1.1 413 [^]*"too-large"/);
    const aborted = (await newestImport(api, ORGANIZATION)) as EventImport;
    expect(aborted).toMatchObject({ status: "aborted", events_successfully_imported: 0 });
    const [entry] = aborted.error_log_sample;
    expect(entry).toMatchObject({ class: "error", type: "upload-interrupted", line: 0 });
    expect(entry?.human_friendly_message).toContain(LIMIT);
    await expect.poll(() => variablesNamed("bomb")).toEqual([]);
  });

  test("is refused in a dry run as well", async () => {
    const bomb = gzipMembers(Buffer.alloc(MIB), { bytes: 350 * MIB });
    const answer = await measured("dry run: 350 MiB of NUL bytes", () => post(`${path}?dryRun=true`, bomb));
    expect(answer).toMatchObject({ status: 413, body: refused });
  });
});

function frameOf(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** The values of a variable that the exports show. */
async function variablesNamed(name: string): Promise<AggregateV1[]> {
  const range = { startDate: "2025-03-10", endDate: "2025-03-11" };
  const lines = await api.readAggregates(ORGANIZATION, range);
  return lines.filter(({ variable }) => variable === name);
}
