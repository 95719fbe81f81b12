import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, createServer, get } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import Koa from "koa";
import { pino } from "pino";
import { expect, test } from "vitest";
import { type Rows, openRows } from "../../../../aggregate/queries/open-rows.js";
import { type OpenRows, answerRows } from "../../../../api/base/http/answers/answer-rows.js";
import { type TakeExportPermit, openExportPermits } from "../../../../api/base/http/export-permits.js";
import { answerProblems, onUncaught } from "../../../../api/base/http/middleware/answer-problems.js";
import { requestId } from "../../../../api/base/http/middleware/access-log.js";
import { watchCaller } from "../../../../api/base/http/middleware/watch-caller.js";
import type { ApiState } from "../../../../api/base/http/route.js";
import { connectResults } from "../../../../deploy/stores/clickhouse/connect-results.js";
import { listen } from "../../../../deploy/roles/servers/listen.js";
import { openRawReceiver } from "../../../support/api/receivers.js";

const CALLERS = 100;
/** The part that a caller takes before it leaves. */
const READ_BYTES = 2_000_000;
const LINES = Buffer.from('{"total":1}\n'.repeat(10_000));

/** Serves one stream of rows and records the events of its listener. */
async function serve(
  rows: (signal: AbortSignal) => Rows | Promise<Rows>,
  takeExportPermit?: TakeExportPermit,
) {
  const told = { bytes: 0, endings: [] as string[], signals: [] as AbortSignal[], warnings: [] as string[] };
  const open: OpenRows = async ({ signal }) => {
    told.signals.push(signal);
    return rows(signal);
  };
  const log = pino({ level: "warn" }, { write: (line: string) => void told.warnings.push(line) });
  const app = new Koa<ApiState>();
  app.silent = true;
  app.context.onerror = onUncaught;
  app.use(requestId(log));
  app.use(watchCaller());
  app.use(answerProblems());
  app.use((ctx, next) => {
    if (takeExportPermit !== undefined) ctx.state.takeExportPermit = takeExportPermit;
    return next();
  });
  app.use((ctx) =>
    answerRows(ctx, open, {
      listener: {
        onExported: (bytes) => void (told.bytes += bytes),
        onExportEnded: (ending) => void told.endings.push(ending),
      },
    }),
  );
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  const { url, ...listening } = await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" });
  const close = listening[Symbol.asyncDispose];
  return { told, url, [Symbol.asyncDispose]: close };
}

/** Begins to read an answer. */
async function ask(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers, agent: false }), "response")) as [IncomingMessage];
  return response;
}

async function* some(): AsyncGenerator<Buffer> {
  for (let part = 0; part < 3; part++) yield LINES;
}

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield LINES;
}

/** That no compressor makes smaller. */
async function* noise(): AsyncGenerator<Buffer> {
  for (;;) yield randomBytes(200_000);
}

async function* failing(): AsyncGenerator<Buffer> {
  yield* some();
  throw new Error("ClickHouse failed midway");
}

test.each([{}, { "Accept-Encoding": "gzip" }, { TE: "trailers" }])(
  "an export that its caller has read to the end is complete, its rows counted where asked for: %o",
  async (headers) => {
    await using server = await serve(some);
    const response = await ask(server.url, headers);
    await once(response.resume(), "end");
    await expect.poll(() => server.told.endings).toEqual(["complete"]);
    expect(server.told.bytes).toBe(3 * LINES.length);
    expect(server.told.warnings).toEqual([]);
    expect(response.trailers).toEqual("TE" in headers ? { "x-row-count": "30000" } : {});
  },
);

test.each([{}, { "Accept-Encoding": "gzip" }])(
  "an export over HTTP/1.0, which knows no trailers, is answered without: %o",
  async (headers) => {
    await using server = await serve(some);
    const asked = Object.entries({ ...headers, TE: "trailers" }).map(([name, value]) => `${name}: ${value}`);
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(["GET / HTTP/1.0", ...asked, "", ""].join("\r\n"));
    const answer = await text(socket);
    expect(answer.split("\r\n")[0]).toBe("HTTP/1.1 200 OK");
    const isPlain = !("Accept-Encoding" in headers);
    if (isPlain) expect(answer.split("\r\n\r\n")[1]).toBe(LINES.toString().repeat(3));
    await expect.poll(() => server.told.endings).toEqual(["complete"]);
  },
);

test("an export whose caller leaves was left, not failed", async () => {
  await using server = await serve(endless);
  const response = await ask(server.url);
  response.destroy();
  await expect.poll(() => server.told.endings).toEqual(["left"]);
});

test.each([{}, { "Accept-Encoding": "gzip" }])(
  "an export that breaks off here failed: %o",
  async (headers) => {
    await using server = await serve(failing);
    const response = await ask(server.url, headers);
    await expect(once(response.resume(), "end")).rejects.toThrow("aborted");
    await expect.poll(() => server.told.endings).toEqual(["failed"]);
  },
);

test("exports that wait behind another one on their connection end with it", async () => {
  await using server = await serve(endless);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
  await expect.poll(() => server.told.signals.length).toBe(3);
  socket.destroy();
  await expect.poll(() => server.told.signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
});

test("exports that are asked for one behind another come whole", async () => {
  await using server = await serve(some);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const requests = ["keep-alive", "keep-alive", "close"].map(
    (connection) => `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`,
  );
  socket.write(requests.join(""));
  const answers = await text(socket);
  expect(answers.split(LINES.toString())).toHaveLength(10);
  expect(answers.split("0\r\n\r\n")).toHaveLength(4);
  await expect.poll(() => server.told.endings).toEqual(["complete", "complete", "complete"]);
});

test("an export of a real connection whose callers break theirs was left, each time", async () => {
  await using clickhouse = await openRawReceiver((socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(`${LINES.length.toString(16)}\r\n${LINES.toString()}\r\n`));
    };
    socket.once("data", () => {
      socket.on("drain", write).write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      write();
    });
  });
  await using results = connectResults(clickhouse.url);
  await using server = await serve((signal) => openRows(results, { query: "SELECT 1", params: {}, signal }));
  for (let left = 1; left <= CALLERS; left += 1) {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let read = 0;
    for await (const part of socket) if ((read += (part as Buffer).length) > READ_BYTES) break;
    await expect.poll(() => server.told.endings.length).toBe(left);
  }
  expect(new Set(server.told.endings)).toEqual(new Set(["left"]));
});

test("twenty pipelined exports that are not read keep one place, and lose it to callers that wait", async () => {
  const { take } = openExportPermits({ inAll: 1, stalledMsMax: 50, waitMsMax: 2_000 });
  await using server = await serve(endless, take);
  const { hostname, port } = new URL(server.url);
  const pipelined = connect(Number(port), hostname).pause();
  pipelined.on("error", () => undefined);
  pipelined.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20));
  await expect.poll(() => server.told.signals.length).toBe(1);
  const other = await ask(server.url);
  expect(other.statusCode).toBe(200);
  expect(server.told.signals).toHaveLength(2);
  other.destroy();
  pipelined.destroy();
});

test("a caller who would wait long is told when to come again, and the place is free after it was used", async () => {
  const { take } = openExportPermits({ inAll: 1, waitMsMax: 30 });
  await using server = await serve(endless, take);
  const slow = (await ask(server.url)).pause();
  const refused = await ask(server.url, { "Accept-Encoding": "gzip" });
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([503, "1"]);
  expect(JSON.parse(await text(refused))).toMatchObject({ code: "unavailable" });
  slow.destroy();
  await expect
    .poll(async () => {
      const answer = await ask(server.url);
      answer.destroy();
      return answer.statusCode;
    })
    .toBe(200);
});

test.each([{}, { "Accept-Encoding": "gzip" }])(
  "a caller who reads nothing from the first byte on loses its export in bounded time, though nobody waits, and without a warning: %o",
  async (headers) => {
    const { take } = openExportPermits({ idleMsMax: 50 });
    await using server = await serve(noise, take);
    const { hostname, port } = new URL(server.url);
    const silent = connect(Number(port), hostname).pause();
    silent.on("error", () => undefined);
    const asked = Object.entries({ Host: "x", ...headers }).map(([name, value]) => `${name}: ${value}`);
    silent.write(["GET / HTTP/1.1", ...asked, "", ""].join("\r\n"));
    await expect.poll(() => server.told.endings).toEqual(["left"]);
    expect(server.told.signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(server.told.warnings).toEqual([]);
    silent.destroy();
  },
);
