import { randomBytes } from "node:crypto";
import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { RowsBody, gzipRows } from "../../../../../../api/base/http/answers/answer-rows.js";
import { type RecordBatch, RecordBatchStreamWriter, tableFromArrays } from "apache-arrow";
import fc from "fast-check";
import { countRows } from "../../../../../../api/base/http/answers/count-rows.js";
import type { ExportFormat } from "../../../../../../schemas/contracts/aggregate.js";

const moved = () => new Promise(setImmediate);

/** Rows that report each request for a part, and their end. */
function openRows({ parts, failure }: { parts: readonly string[]; failure?: Error }) {
  const onRequest = vi.fn();
  const onReturn = vi.fn();
  async function* read(): AsyncGenerator<Buffer> {
    try {
      for (const part of parts) {
        onRequest(part);
        yield Buffer.from(part);
      }
      if (failure !== undefined) throw failure;
    } finally {
      onReturn();
    }
  }
  return { rows: read(), onRequest, onReturn };
}

/** A response whose reader takes each part when `take` is called. */
function openResponse() {
  const received: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  const response = new Writable({
    write(part: Buffer, _encoding, done) {
      received.push(part.toString());
      pending.push(done);
    },
    // As a socket does, it fails the write under way.
    destroy(error, done) {
      for (const fail of pending.splice(0)) fail(new Error("closed"));
      done(error);
    },
  });
  return { response, received, take: () => pending.shift()?.() };
}

/** Sends the body as Koa does. */
function send(rows: AsyncGenerator<Buffer>, response: Writable): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  return pipeline(new RowsBody(rows, left.signal) as unknown as Readable, response);
}

describe("RowsBody", () => {
  test("requests a part only after the reader took the one before", async () => {
    const { rows, onRequest, onReturn } = openRows({ parts: ["a", "b"] });
    const { response, received, take } = openResponse();
    const sent = send(rows, response);
    await moved();
    expect(onRequest.mock.calls).toEqual([["a"]]);
    take();
    await moved();
    expect(onRequest.mock.calls).toEqual([["a"], ["b"]]);
    take();
    await sent;
    expect(received).toEqual(["a", "b"]);
    expect(response.writableFinished).toBe(true);
    expect(onReturn).toHaveBeenCalledTimes(1);
  });

  test("breaks the response off when the rows fail midway", async () => {
    const { rows } = openRows({ parts: ["a"], failure: new Error("failed midway") });
    const { response, take } = openResponse();
    const sent = expect(send(rows, response)).rejects.toThrow("failed midway");
    await moved();
    take();
    await sent;
    expect(response.destroyed).toBe(true);
    expect(response.writableFinished).toBe(false);
  });

  test("ends the rows when the reader leaves", async () => {
    const { rows, onRequest, onReturn } = openRows({ parts: ["a", "b"] });
    const { response } = openResponse();
    const sent = expect(send(rows, response)).rejects.toThrow("closed");
    await moved();
    response.destroy();
    await sent;
    await moved();
    expect(onReturn).toHaveBeenCalledTimes(1);
    expect(onRequest).toHaveBeenCalledTimes(1);
  });
});

describe("gzipRows", () => {
  async function piecesOf(rows: AsyncGenerator<Buffer>): Promise<Buffer[]> {
    const pieces: Buffer[] = [];
    for await (const piece of gzipRows(rows)) pieces.push(piece);
    return pieces;
  }

  test("compresses the rows", async () => {
    const pieces = await piecesOf(openRows({ parts: ["a", "b"] }).rows);
    expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe("ab");
  });

  test("sends pieces of 128 KiB at least, but for the first and the last", async () => {
    const parts = Array.from({ length: 100 }, () => randomBytes(15_000).toString("base64"));
    const pieces = await piecesOf(openRows({ parts }).rows);
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.min(...pieces.slice(1, -1).map(({ length }) => length))).toBeGreaterThanOrEqual(128 * 1024);
    expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe(parts.join(""));
  });

  test("fails when the rows fail midway", async () => {
    const { rows } = openRows({ parts: ["a"], failure: new Error("failed midway") });
    await expect(piecesOf(rows)).rejects.toThrow("failed midway");
  });

  test("ends the rows when the reader leaves", async () => {
    const { rows, onReturn } = openRows({ parts: ["a", "b"] });
    for await (const _ of gzipRows(rows)) break;
    await vi.waitFor(() => expect(onReturn).toHaveBeenCalledTimes(1));
  });
});

/** The bytes in parts that are cut anywhere; each is overwritten once it was counted. */
function counted(format: ExportFormat, bytes: Buffer, places: readonly number[]): number {
  const count = countRows(format);
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  ends.sort((a, b) => a - b);
  return ends
    .map((end, index) => {
      const part = Buffer.from(bytes.subarray(ends[index - 1] ?? 0, end));
      const rows = count.add(part);
      part.fill("\n");
      return rows;
    })
    .reduce((a, b) => a + b, 0);
}

const places = fc.array(fc.nat(), { maxLength: 30 });
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

test.each([
  ["csv", 9],
  ["ndjson", 10],
] as const)("of ten lines of %s, %i are rows, however they are cut", (format, rows) => {
  fc.assert(
    fc.property(places, (at) => {
      expect(counted(format, Buffer.from("a,b\n".repeat(10)), at)).toBe(rows);
    }),
  );
});

test("counts the rows of every record batch of a stream of Arrow, however it is cut", () => {
  fc.assert(
    fc.property(sizes, places, (lengths, at) => {
      const batches = lengths.flatMap((length) => batchesOf(length));
      const bytes = Buffer.from(RecordBatchStreamWriter.writeAll(batches).toUint8Array(true));
      expect(counted("arrow", bytes, at)).toBe(lengths.reduce((a, b) => a + b, 0));
    }),
    { numRuns: 50 },
  );
});

function batchesOf(length: number): RecordBatch[] {
  return tableFromArrays({ n: Int32Array.from({ length }, (_, index) => index) }).batches;
}
