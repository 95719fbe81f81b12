import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { numberLines } from "../../../../enrich/lines/split-lines.js";
import { ActiveUploads, UploadAborted } from "../../../../ingest/import/active-uploads.js";
import { SenderIdle } from "../../../../ingest/import/read-while-sent.js";
import {
  isKnownLarge,
  receiveImport,
  type ReceiveDependencies,
} from "../../../../ingest/import/receive-import.js";
import { linesOf } from "../../../../schemas/records/chunk-codec.js";
import { Problem } from "../../../../schemas/problem.js";
import type { EventLog } from "../../../../schemas/records/event-log.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { decodeRawChunk, type RawChunk } from "../../../../schemas/records/raw-chunk.js";

const IMPORT = "01990000-0000-7000-8000-00000000000a";
const target = {
  ownerId: "01990000-0000-7000-8000-00000000000b",
  accountId: "01990000-0000-7000-8000-00000000000c",
  artifactKind: "package",
  artifactId: "01990000-0000-7000-8000-00000000000d",
  format: "ndjson",
  path: "",
  importId: IMPORT,
} as const;

const NOON = 1_700_000_000_000;

interface Told {
  /** Calls of log and store, in order. */
  steps: string[];
  chunks: RawChunk[];
  partitions: number[];
  owners: (string | undefined)[];
  /** Told to the upload store at the end. */
  lastStamp: number;
  ends: (readonly number[] | undefined)[];
}

/** A log and an upload store that write down what they are told; `append` may be replaced. */
type Uploads = ReceiveDependencies["uploads"];

function fakes(over: { append?: () => Promise<void>; uploads?: Partial<Uploads> } = {}) {
  const told: Told = { steps: [], chunks: [], partitions: [], owners: [], lastStamp: 0, ends: [] };
  const log: EventLog = {
    partitions: 8,
    async append(records, { partition, ownerId }) {
      told.owners.push(ownerId);
      told.chunks.push(...records.map(decodeRawChunk));
      told.partitions.push(partition);
      await (over.append ?? (async () => undefined))();
      told.steps.push("appended");
      return told.chunks.length;
    },
    consume: () => Promise.reject(new Error("not here")),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const uploads: Uploads = {
    renewLease: async () => true,
    async completeUpload({ importId: id, chunksTotal, stamp, logEnds }) {
      told.lastStamp = stamp;
      told.ends.push(logEnds);
      told.steps.push(`completed ${id} ${chunksTotal}`);
      return { id } as EventImport;
    },
    async interruptUpload(id, { reason, logEnds }) {
      told.ends.push(logEnds);
      told.steps.push(`interrupted ${id}: ${reason}`);
    },
    putLogEnds: async (_, logEnds) => void told.ends.push(logEnds),
    removeUpload: async (id) => void told.steps.push(`removed ${id}`),
    ...over.uploads,
  };
  const active = new ActiveUploads();
  // On the clock of these tests a wait for other requests would never end.
  const usual = { log, uploads, active, now: () => NOON, throttle: async () => undefined };
  const receive = (body: AsyncIterable<Buffer>, changed: Partial<ReceiveDependencies> = {}) =>
    receiveImport(body, target, { ...usual, ...changed });
  return { told, active, receive };
}

/** `chunks` parts, each large enough to be a chunk of its own. */
async function* bodyOf(chunks: number): AsyncGenerator<Buffer> {
  const part = Buffer.from('{"$time":1}\n'.repeat(50_000));
  for (let sent = 0; sent < chunks; sent++) yield part;
}

async function* brokenBody(): AsyncGenerator<Buffer> {
  yield* bodyOf(2);
  throw new Error("the sender broke off");
}

/** Goes on by so many milliseconds whenever it is read. */
function clockOf(stepMs: number): () => number {
  let at = NOON;
  return () => (at += stepMs);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("receiveImport", () => {
  test("completes the upload after all appends, with their number", async () => {
    const { told, receive } = fakes({
      append: () => new Promise((resolve) => setImmediate(resolve)),
    });
    vi.useRealTimers();
    await receive(bodyOf(6));
    expect(told.steps).toEqual([...Array<string>(6).fill("appended"), `completed ${IMPORT} 6`]);
  });

  test("throttles between chunks, and not for a body of one", async () => {
    const { told, receive } = fakes();
    const throttle = async () => void told.steps.push("throttled");
    await receive(bodyOf(1), { throttle });
    expect(told.steps).toEqual(["appended", `completed ${IMPORT} 1`]);
    told.steps = [];
    await receive(bodyOf(3), { throttle });
    expect(told.steps.filter((step) => step === "throttled")).toHaveLength(2);
  });

  test("waits for room of its owner before each append", async () => {
    const { told, receive } = fakes();
    const untilRoom = async ({ ownerId }: { ownerId: string }) => void told.steps.push(`room for ${ownerId}`);
    await receive(bodyOf(2), { untilRoom });
    expect(told.steps.filter((step) => step === `room for ${target.ownerId}`)).toHaveLength(2);
    expect(told.steps[0]).toBe(`room for ${target.ownerId}`);
    expect(told.owners).toEqual([target.ownerId, target.ownerId]);
  });

  test("interrupts the upload of an owner who gets no room, and appends nothing of it", async () => {
    const { told, receive } = fakes();
    const untilRoom = () => Promise.reject(new Problem("unavailable", "no room"));
    await expect(receive(bodyOf(2), { untilRoom })).rejects.toThrow("no room");
    expect(told.steps).toEqual([`interrupted ${IMPORT}: no room`]);
  });

  test("records where its lines lie in the log, also of an upload that is aborted", async () => {
    const { told, receive } = fakes();
    await receive(bodyOf(1));
    const aborted = fakes({ uploads: { renewLease: async () => false } });
    const body = (async function* () {
      yield* bodyOf(1);
      await vi.advanceTimersByTimeAsync(6_000);
      yield* bodyOf(1000);
    })();
    await expect(aborted.receive(body)).rejects.toThrow(UploadAborted);
    for (const { ends, partitions } of [told, aborted.told])
      expect(ends).toEqual([[...Array<number>(partitions[0] ?? 0).fill(0), 1]]);
  });

  test("does not know where the lines of a failed append lie", async () => {
    const { told, receive } = fakes({ append: () => Promise.reject(new Error("no leader")) });
    await expect(receive(bodyOf(1))).rejects.toThrow("no leader");
    expect(told.ends).toEqual([undefined]);
  });

  test("completes an empty body with no chunks", async () => {
    const { told, receive } = fakes();
    await receive(bodyOf(0));
    expect(told.steps).toEqual([`completed ${IMPORT} 0`]);
  });

  test("records the sender, position and bytes of each chunk", async () => {
    const { told, receive } = fakes();
    await receive(bodyOf(2));
    const { lines, ...second } = told.chunks[1] as RawChunk;
    expect(second).toEqual({
      source: "import",
      ...target,
      sequence: 1,
      firstLine: 50_001,
      receiptStamp: NOON + 1,
      header: "",
      codec: "none",
    });
    expect(lines.toString()).toBe('{"$time":1}\n'.repeat(50_000));
  });

  test("compresses chunks with the given codec", async () => {
    vi.useRealTimers();
    const { told, receive } = fakes();
    await receive(bodyOf(2), { codec: "lz4" });
    expect(told.chunks.map(({ codec }) => codec)).toEqual(["lz4", "lz4"]);
    for (const chunk of told.chunks) expect(chunk.lines.length).toBeLessThan(linesOf(chunk).length / 50);
    const lines = told.chunks
      .sort((a, b) => a.sequence - b.sequence)
      .map((chunk) => linesOf(chunk).toString());
    expect(lines).toEqual(Array(2).fill('{"$time":1}\n'.repeat(50_000)));
  });

  test("counts blank lines and does not store them, wherever they are", async () => {
    vi.useRealTimers();
    const { told, receive } = fakes();
    const throttle = vi.fn(async () => undefined);
    const blank = Buffer.from("\n \r\n".repeat(150_000));
    const received = { bytes: 0, bytesUnpacked: 0, lines: 0, stamp: 0, logEnds: [] };
    const parts = [blank, blank, Buffer.from("{}\n"), blank, Buffer.from("[]\n{}\n"), blank, blank, blank];
    await receive(Readable.from(parts), { throttle, received });
    // Those that are compressed at once end in any order.
    const chunks = told.chunks.toSorted((a, b) => a.sequence - b.sequence);
    const lines = chunks.flatMap((chunk) => [...numberLines(linesOf(chunk), chunk.firstLine)]);
    expect(lines.map(({ line, bytes }) => [line, bytes.toString()])).toEqual([
      [600_001, "{}"],
      [900_002, "[]"],
      [900_003, "{}"],
    ]);
    expect(received.lines).toBe(3);
    expect(told.steps.at(-1)).toBe(`completed ${IMPORT} 2`);
    expect(told.chunks.reduce((sum, chunk) => sum + chunk.lines.length, 0)).toBeLessThan(1_000);
    expect(throttle).toHaveBeenCalledTimes(5);
  });

  test.each([
    ["stands still", clockOf(0)],
    ["goes backwards", clockOf(-1000)],
    ["runs", clockOf(7)],
  ])("stamps chunks in rising order when the clock %s", async (_, now) => {
    const { told, receive } = fakes();
    await receive(bodyOf(5), { now });
    const stamps = told.chunks.map(({ receiptStamp }) => receiptStamp);
    expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => a - b));
    expect(stamps).toHaveLength(5);
    expect(told.lastStamp).toBe(stamps.at(-1));
  });

  test("interrupts the upload, after the appends in flight, when the body breaks off", async () => {
    vi.useRealTimers();
    const { told, receive } = fakes({
      append: () => new Promise((resolve) => setImmediate(resolve)),
    });
    await expect(receive(brokenBody())).rejects.toThrow("the sender broke off");
    expect(told.steps).toEqual(["appended", "appended", `interrupted ${IMPORT}: the sender broke off`]);
  });

  test("interrupts the upload at a failed append, without reading on", async () => {
    const { told, receive } = fakes({ append: () => Promise.reject(new Error("disk full")) });
    await expect(receive(bodyOf(1000))).rejects.toThrow("disk full");
    expect(told.steps).toEqual([`interrupted ${IMPORT}: disk full`]);
    expect(told.chunks.length).toBeLessThanOrEqual(2);
  });

  test("interrupts the upload when only the last append fails", async () => {
    let appends = 0;
    const { told, receive } = fakes({
      append: async () => {
        if (++appends === 2) throw new Error("disk full");
      },
    });
    await expect(receive(bodyOf(2))).rejects.toThrow("disk full");
    expect(told.steps.at(-1)).toBe(`interrupted ${IMPORT}: disk full`);
  });

  test("records the interruption when an unavailable database is back, without keeping the sender", async () => {
    const steps: string[] = [];
    const errors = [new Error("unreachable"), new Error("still unreachable")];
    const { receive } = fakes({
      uploads: {
        async interruptUpload(id, { reason }) {
          const error = errors.shift();
          if (error !== undefined) throw error;
          steps.push(`interrupted ${id}: ${reason}`);
        },
      },
    });
    await expect(receive(brokenBody())).rejects.toThrow("the sender broke off");
    expect(steps).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(steps).toEqual([`interrupted ${IMPORT}: the sender broke off`]);
  });

  test("has at most four appends in flight, and reads on as they end", async () => {
    const waiting: (() => void)[] = [];
    const { told, receive } = fakes({
      append: () => new Promise((resolve) => waiting.push(resolve)),
    });
    const receiving = receive(bodyOf(6));
    await vi.waitFor(() => expect(waiting).toHaveLength(4));
    waiting[0]?.();
    await vi.waitFor(() => expect(waiting).toHaveLength(5));
    waiting[1]?.();
    await vi.waitFor(() => expect(waiting).toHaveLength(6));
    waiting.forEach((resolve) => resolve());
    await receiving;
    expect(told.steps.at(-1)).toBe(`completed ${IMPORT} 6`);
  });

  test("renews its lease regularly, also while no bytes arrive", async () => {
    const renewLease = vi.fn(async () => true);
    const { receive } = fakes({ uploads: { renewLease } });
    let goOn = () => undefined as void;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const body = (async function* () {
      await gate;
      yield Buffer.from("{}\n");
    })();
    const receiving = receive(body);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(renewLease).toHaveBeenCalledTimes(6);
    goOn();
    await receiving;
    await vi.advanceTimersByTimeAsync(31_000);
    expect(renewLease).toHaveBeenCalledTimes(6);
  });

  test("survives a database that is unavailable for a moment", async () => {
    const renewLease = vi.fn(() => Promise.reject<boolean>(new Error("connection refused")));
    const { told, receive } = fakes({ uploads: { renewLease } });
    const body = (async function* () {
      await vi.advanceTimersByTimeAsync(6_000);
      yield Buffer.from("{}\n");
    })();
    await receive(body);
    expect(told.steps.at(-1)).toBe(`completed ${IMPORT} 1`);
    expect(renewLease).toHaveBeenCalledOnce();
  });

  const forbidden = new Problem("forbidden", "You may not do this here.");

  test("interrupts an upload within 5 s after its caller lost the right to it, also while no bytes arrive", async () => {
    const { told, receive } = fakes();
    const requireRight = vi.fn(async () => undefined);
    const refused = expect(receive(stillBody(), { requireRight })).rejects.toBe(forbidden);
    await vi.advanceTimersByTimeAsync(6_000);
    requireRight.mockRejectedValue(forbidden);
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    expect(told.steps).toEqual([`interrupted ${IMPORT}: You may not do this here.`]);
    expect(requireRight).toHaveBeenCalledTimes(2);
  });

  test("completes no upload whose caller lost the right to it just before the end", async () => {
    const { told, receive } = fakes();
    const requireRight = () => Promise.reject(forbidden);
    await expect(receive(bodyOf(1), { requireRight })).rejects.toBe(forbidden);
    expect(told.steps).toEqual(["appended", `interrupted ${IMPORT}: You may not do this here.`]);
  });

  test("completes an upload while the database cannot say whether its caller has the right to it", async () => {
    const { told, receive } = fakes();
    const down = () => Promise.reject(new Problem("unavailable", "The database cannot be reached."));
    const body = (async function* () {
      await vi.advanceTimersByTimeAsync(6_000);
      yield Buffer.from("{}\n");
    })();
    await receive(body, { requireRight: down });
    expect(told.steps.at(-1)).toBe(`completed ${IMPORT} 1`);
  });

  test("stops at the abort of its import without marking it as interrupted", async () => {
    const { told, receive } = fakes({ uploads: { renewLease: async () => false } });
    const body = (async function* () {
      yield* bodyOf(1);
      await vi.advanceTimersByTimeAsync(6_000);
      yield* bodyOf(1000);
    })();
    await expect(receive(body)).rejects.toThrow(UploadAborted);
    expect(told.steps).toEqual(["appended"]);
  });

  test("stops at an abort during the last part of the body", async () => {
    const { told, receive } = fakes({ uploads: { renewLease: async () => false } });
    const body = (async function* () {
      yield Buffer.from("{}\n");
      await vi.advanceTimersByTimeAsync(6_000);
    })();
    await expect(receive(body)).rejects.toThrow(UploadAborted);
    expect(told.steps).not.toContain(`completed ${IMPORT} 1`);
  });

  test("ends at once when it is aborted, also while the sender is idle", async () => {
    const { told, active, receive } = fakes();
    const refused = expect(receive(stillBody())).rejects.toBeInstanceOf(UploadAborted);
    await vi.advanceTimersByTimeAsync(10);
    active.abort(IMPORT);
    await refused;
    expect(told.steps).toEqual([]);
  });

  test("interrupts an upload whose sender is idle for two minutes", async () => {
    const { told, receive } = fakes();
    const refused = expect(receive(stillBody())).rejects.toBeInstanceOf(SenderIdle);
    await vi.advanceTimersByTimeAsync(119_000);
    expect(told.steps).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    await refused;
    expect(told.steps).toEqual([`interrupted ${IMPORT}: no data was received for 120 s`]);
  });
});

/** One line, then nothing more. */
async function* stillBody(): AsyncGenerator<Buffer> {
  yield Buffer.from('{"$time":1}\n');
  await new Promise(() => undefined);
}

describe("isKnownLarge", () => {
  const MIB = 1024 * 1024;
  test.each([
    ["a plain body of more than 1 MiB", MIB + 1, "", true],
    ["a plain body of 1 MiB", MIB, "identity", false],
    ["a compressed body of more than 256 KiB", MIB / 4 + 1, "gzip", true],
    ["a compressed body of 256 KiB", MIB / 4, "GZIP", false],
    ["a body of unknown size", "", "gzip", false],
  ])("%s", (_, contentLength, contentEncoding, large) => {
    expect(isKnownLarge({ contentLength: String(contentLength), contentEncoding })).toBe(large);
  });
});
