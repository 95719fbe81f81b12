import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { ResultRequest, Rows } from "../../../../aggregate/queries/open-rows.js";
import { connectResults } from "../../../../deploy/stores/clickhouse/connect-results.js";
import { clickhouse, useClickHouse } from "../../../support/stores/use-clickhouse.js";

const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const HOSTILE = [
  "it's",
  'a "b"',
  "back\\slash",
  "tab\tand\nbreak\r",
  "größer 🦀",
  "{t:String}",
  "'); DROP TABLE a",
];

function asking(query: string, asked: Partial<ResultRequest> = {}): ResultRequest {
  const { signal } = new AbortController();
  return { query, query_params: {}, clickhouse_settings: {}, abort_signal: signal, ...asked };
}

/** Answers every request with these bytes; then ends the connection, where it is told to. */
async function serve(answer: string, { ends = true } = {}) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket)).on("error", () => undefined);
    socket.once("data", (bytes) => {
      asked.push(bytes.toString());
      if (ends) socket.end(answer, "latin1");
      else socket.write(answer, "latin1");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Reads it part by part. */
async function read(rows: Rows, onPart: (bytes: Buffer) => void): Promise<void> {
  for await (const part of rows) onPart(part);
}

describe("a result of a real ClickHouse", () => {
  useClickHouse();

  test("is of the parameters as they are, alone and in lists", async () => {
    await using results = connectResults(clickhouse.url);
    const { stream } = await results.exec(
      asking("SELECT {list:Array(String)} AS list, {t:String} AS t, {n:UInt64} AS n FORMAT JSONEachRow", {
        query_params: { list: HOSTILE, t: HOSTILE.join(), n: 7 },
        clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
      }),
    );
    expect(JSON.parse(await text(stream))).toEqual({ list: HOSTILE, t: HOSTILE.join(), n: 7 });
  });

  test("that it refuses rejects with its code", async () => {
    await using results = connectResults(clickhouse.url);
    await expect(results.exec(asking("SELECT nothing"))).rejects.toMatchObject({
      type: "UNKNOWN_IDENTIFIER",
    });
    const zstd = { clickhouse_settings: { enable_http_compression: 1 as const } };
    const compressed = asking("SELECT nothing", { ...zstd, http_headers: { "Accept-Encoding": "zstd" } });
    await expect(results.exec(compressed)).rejects.toThrow("status 404, exception 47");
    const { username } = new URL(clickhouse.url);
    const wrong = Object.assign(new URL(clickhouse.url), { username, password: "wrong" });
    await using others = connectResults(wrong.href);
    await expect(others.exec(asking("SELECT 1"))).rejects.toThrow("the response has no valid Content-Length");
  });
});

describe("a result that breaks off", () => {
  test.each([
    ["between two chunks", `${HEAD}3\r\nabc\r\n`, "closed the connection before its response was complete"],
    ["in a chunk", `${HEAD}5\r\nabc`, "closed the connection before its response was complete"],
    ["with something else", `${HEAD}3\r\nabc\r\nCode: 241\r\n0\r\n\r\n`, "no size"],
  ])("%s throws, once what came is read", async (_, answer, reason) => {
    await using server = await serve(answer);
    await using results = connectResults(server.url);
    let came = "";
    const reading = async () => {
      const { stream } = await results.exec(asking("SELECT 1"));
      await read(stream, (part) => (came += part.toString()));
    };
    await expect(reading()).rejects.toThrow(reason);
    expect("abc").toContain(came);
  });

  test("before its head rejects as a store that is down", async () => {
    await using server = await serve("");
    await using results = connectResults(server.url);
    await expect(results.exec(asking("SELECT 1"))).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});

test("a result that stands still is given up, and says who did", async () => {
  await using server = await serve(`${HEAD}3\r\nabc\r\n`, { ends: false });
  await using results = connectResults(server.url, { idleMsMax: 100 });
  const { stream } = await results.exec(asking("SELECT 1"));
  await expect(read(stream, () => undefined)).rejects.toThrow("ClickHouse was idle for 0.1 s");
  const { stream: unread } = await results.exec(asking("SELECT 1"));
  await expect.poll(() => server.sockets.size).toBe(0);
  await expect(text(unread)).rejects.toThrow("the reader of a response was idle for 0.1 s");
});

test("credentials travel in no URL", async () => {
  await using server = await serve(`${HEAD}0\r\n\r\n`);
  const url = Object.assign(new URL(server.url), { username: "ada", password: "s%40cret" });
  await using results = connectResults(url.href);
  await text((await results.exec(asking("SELECT 1"))).stream);
  const [request = ""] = server.asked;
  const basic = Buffer.from("ada:s@cret").toString("base64");
  expect(request.split("\r\n")).toContain(`Authorization: Basic ${basic}`);
  expect(request.split("\r\n")[0]).toBe("POST /?database=maintainer HTTP/1.1");
});

describe("beyond twenty at once", () => {
  test("a result waits until another is closed, or nobody waits for it any more", async () => {
    await using server = await serve(`${HEAD}3\r\nabc\r\n`, { ends: false });
    await using results = connectResults(server.url);
    const open = await Promise.all(Array.from({ length: 20 }, () => results.exec(asking("SELECT 1"))));
    const stop = new AbortController();
    const left = results.exec(asking("SELECT 2", { abort_signal: stop.signal }));
    const waiting = results.exec(asking("SELECT 3"));
    stop.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(server.asked).toHaveLength(20);
    open[0]?.stream.destroy();
    await waiting;
    expect(server.asked.filter((request) => request.endsWith("SELECT 3"))).toHaveLength(1);
  });

  test("nothing begins any more once they are closed, or nobody asks", async () => {
    await using server = await serve(`${HEAD}3\r\nabc\r\n`, { ends: false });
    const results = connectResults(server.url);
    await Promise.all(Array.from({ length: 20 }, () => results.exec(asking("SELECT 1"))));
    const waiting = results.exec(asking("SELECT 2"));
    await results[Symbol.asyncDispose]();
    await expect(waiting).rejects.toThrow("closed");
    await using others = connectResults(server.url);
    const stop = new AbortController();
    const left = others.exec(asking("SELECT 3", { abort_signal: stop.signal }));
    stop.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(server.asked).toHaveLength(20);
  });

  test("a result that is aborted gives its permit back", async () => {
    await using server = await serve(`${HEAD}3\r\nabc\r\n`, { ends: false });
    await using results = connectResults(server.url);
    const stop = new AbortController();
    const { stream } = await results.exec(asking("SELECT 1", { abort_signal: stop.signal }));
    const reading = read(stream, () => undefined);
    stop.abort(new Error("the caller left"));
    await expect(reading).rejects.toThrow("the caller left");
    await expect.poll(() => server.sockets.size).toBe(0);
  });
});
