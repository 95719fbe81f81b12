import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLiveBuffer } from "../../../../ingest/collect/live-buffer.js";
import { linesOf } from "../../../../schemas/records/chunk-codec.js";
import { decodeRawChunk, type RawChunk } from "../../../../schemas/records/raw-chunk.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** A log that takes what `takes` lets it take. */
function bufferOn(takes: (chunk: RawChunk) => Promise<void>, bytesMax = 10_000) {
  const told = {
    lost: 0,
    failures: 0,
    underWay: 0,
    mostUnderWay: 0,
    chunks: [] as RawChunk[],
    places: [] as number[],
  };
  const buffer = openLiveBuffer({
    log: {
      partitions: 4,
      async append([record], { partition }) {
        const chunk = decodeRawChunk(record ?? Buffer.alloc(0));
        told.mostUnderWay = Math.max(told.mostUnderWay, ++told.underWay);
        told.places.push(partition);
        await takes(chunk).finally(() => told.underWay--);
        told.chunks.push(chunk);
      },
    },
    now: () => Date.now(),
    newId: randomUUID,
    bytesMax,
    onLost: (events) => (told.lost += events),
    onFailure: () => told.failures++,
    endMsMax: 1_000,
  });
  const texts = () => told.chunks.map((chunk) => linesOf(chunk).toString());
  return { buffer, told, texts };
}

const taking = async () => undefined;
const refusing = () => Promise.reject(new Error("unreachable"));
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("lines that arrive together are one chunk, in the log within 200 ms", async () => {
  const { buffer, told, texts } = bufferOn(taking);
  buffer.add('{"a":1}', ["ada"]);
  await pass(50);
  buffer.add('{"b":2}', ["ada"]);
  expect(buffer.bytes).toBe(16);
  await pass(100);
  expect(texts()).toEqual(['{"a":1}\n{"b":2}\n']);
  expect(told.chunks).toMatchObject([{ source: "collect", artifactKind: "any", sequence: 0, firstLine: 1 }]);
  expect(buffer.bytes).toBe(0);
});

test("a full chunk is appended at once", async () => {
  const { buffer, told } = bufferOn(taking, 1_000_000);
  for (let n = 0; n < 3; n++) buffer.add("x".repeat(100_000), ["ada"]);
  await pass(0);
  expect(told.chunks).toHaveLength(1);
});

test("lines are buffered by their size in bytes, however long one is", async () => {
  const { buffer, texts } = bufferOn(taking, 1_000_000);
  buffer.add("é".repeat(10), ["ada"]);
  expect(buffer.bytes).toBe(21);
  buffer.add("é".repeat(200_000), ["ada"]);
  buffer.add("last", ["ada"]);
  await pass(200);
  expect(texts().join("")).toBe(`${"é".repeat(10)}\n${"é".repeat(200_000)}\nlast\n`);
  expect(buffer.bytes).toBe(0);
});

test("a failed append is retried with its id and partition until it succeeds", async () => {
  let isAvailable = false;
  const seen: RawChunk[] = [];
  const { buffer, told, texts } = bufferOn(async (chunk) => {
    seen.push(chunk);
    if (!isAvailable) await refusing();
  });
  buffer.add("line", ["ada"]);
  await pass(1_000);
  isAvailable = true;
  await pass(3_000);
  expect(texts()).toEqual(["line\n"]);
  expect(told.failures).toBe(seen.length - 1);
  expect(new Set(seen.map(({ importId }) => importId)).size).toBe(1);
  expect(new Set(told.places).size).toBe(1);
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => index));
});

test("lines above the buffer's size are dropped and counted, and few appends are in flight", async () => {
  const { buffer, told } = bufferOn(() => new Promise(() => undefined), 100);
  for (let n = 0; n < 30; n++) {
    buffer.add("ten bytes", [`owner ${n}`]);
    await pass(100);
  }
  expect(buffer.bytes).toBe(100);
  expect(told.lost).toBe(20);
  expect(told.mostUnderWay).toBe(4);
});

test("a buffer is flushed once the lines of before are in the log, however long that takes", async () => {
  let isAvailable = false;
  const { buffer, texts } = bufferOn(() => (isAvailable ? taking() : refusing()));
  buffer.add("before", ["ada"]);
  const flushed = vi.fn();
  const flushing = buffer.flushed().then(flushed);
  await pass(3_600_000);
  expect(flushed).not.toHaveBeenCalled();
  isAvailable = true;
  buffer.add("after", ["ada"]);
  await pass(10_000);
  await flushing;
  expect(texts()).toContain("before\n");
  await buffer.flushed();
});

test("disposal appends the buffered lines", async () => {
  const { buffer, told, texts } = bufferOn(taking);
  buffer.add("last", ["ada"]);
  await buffer[Symbol.asyncDispose]();
  expect(texts()).toEqual(["last\n"]);
  buffer.add("too late", ["ada"]);
  expect(told.lost).toBe(1);
});

test("disposal waits for an unavailable log up to its limit, and counts the lost events", async () => {
  const { buffer, told } = bufferOn(refusing);
  buffer.add("one", ["ada"]);
  buffer.add("two", ["ada"]);
  await pass(150);
  buffer.add("three", ["ada"]);
  const ended = buffer[Symbol.asyncDispose]();
  await pass(1_100);
  await ended;
  expect(told.lost).toBe(3);
});

test("disposal of an empty buffer ends at once", async () => {
  const { buffer, told } = bufferOn(refusing);
  await buffer[Symbol.asyncDispose]();
  expect(told.lost).toBe(0);
});

test("an owner who sends more than the log takes leaves room for the others", async () => {
  const { buffer, told, texts } = bufferOn(refusing, 16_000);
  const send = (owner: string, count: number) => {
    for (let n = 0; n < count; n++) buffer.add("x".repeat(99), [owner]);
  };
  send("ada", 200);
  expect(told.lost).toBe(120);
  send("bob", 30);
  expect(told.lost).toBe(120 + 10);
  send("cyd", 20);
  expect(told.lost).toBe(120 + 10);
  expect(texts()).toEqual([]);
  const ended = buffer[Symbol.asyncDispose]();
  await pass(1_000);
  await ended;
});

test("a client who sends more than the log takes to many owners leaves room for the other clients", async () => {
  const { buffer, told } = bufferOn(refusing, 16_000);
  for (let n = 0; n < 200; n++) buffer.add("x".repeat(99), [`owner ${n % 5}`, "greedy"]);
  expect(told.lost).toBe(120);
  for (let n = 0; n < 20; n++) buffer.add("x".repeat(99), ["another", "modest"]);
  expect(told.lost).toBe(120);
  const ended = buffer[Symbol.asyncDispose]();
  await pass(1_000);
  await ended;
});

test("the share of an owner is free again once its lines are in the log", async () => {
  const { buffer, told } = bufferOn(taking, 16_000);
  for (let n = 0; n < 80; n++) buffer.add("x".repeat(99), ["ada"]);
  await pass(200);
  for (let n = 0; n < 80; n++) buffer.add("x".repeat(99), ["ada"]);
  expect(told.lost).toBe(0);
  await pass(200);
});
