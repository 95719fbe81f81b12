import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { parseError } from "@clickhouse/client";
import type { PassChunks, Result, ResultRequest, ResultSource, WriteBytes } from "../aggregate/open-rows.js";
import { limitPlaces } from "../schemas/limit-places.js";
import { databaseOf } from "./connect-clickhouse.js";
import { HttpAnswerDecoder, type AnswerHead } from "./decode-http-answer.js";

/** As many results at once as any other client of ClickHouse has connections; more wait. */
const RESULTS_MAX = 20;
const READ_BYTES = 256 * 1024;
const IDLE_MS_MAX = 300_000;
const REFUSAL_BYTES_MAX = 64 * 1024;

export interface ResultsOptions {
  /** How long ClickHouse may be silent, and a reader may take for 256 KiB. */
  idleMsMax?: number;
}

/**
 * Results of ClickHouse as bytes, each over a connection of its own. Without TLS it is read into one piece of memory
 * again and again: a stream of Node's takes a new one for every 64 KiB, and on two cores passes on 0.45 to 0.73 of what
 * curl reads from ClickHouse, with a collection of garbage for every 13 MB. Read so, and passed on in ClickHouse's own
 * chunks, it is 0.9 (`npm run bench -- csv`).
 */
export function connectResults(
  url: string,
  { idleMsMax = IDLE_MS_MAX }: ResultsOptions = {},
): ResultSource & AsyncDisposable {
  const takePlace = limitPlaces({ perSide: RESULTS_MAX, inAll: RESULTS_MAX });
  const open = new Set<Socket>();
  let isClosed = false;
  return {
    async exec(asked) {
      const { abort_signal: signal } = asked;
      const request = composeRequest(new URL(url), asked);
      const place = await takePlace([], signal);
      if (isClosed || signal.aborted) {
        place[Symbol.dispose]();
        throw isClosed ? brokenOff("results of ClickHouse are closed") : (signal.reason as Error);
      }
      const connection = openConnection(new URL(url), idleMsMax);
      const { socket } = connection;
      const stop = () => void socket.destroy(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      open.add(socket);
      socket.once("close", () => {
        signal.removeEventListener("abort", stop);
        open.delete(socket);
        place[Symbol.dispose]();
      });
      socket.write(request);
      return readResult(connection);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const socket of open) socket.destroy();
    },
  };
}

interface Connection {
  socket: Socket;
  /** The bytes that came next, overwritten by the next call; undefined at the end of the connection. */
  read: () => Promise<Buffer | undefined>;
  /** Gives all that comes to `take` in place of `read`; resolves at the end of the connection. */
  flow: (take: WriteBytes) => Promise<void>;
}

function openConnection(server: URL, idleMsMax: number): Connection {
  let arrived: Buffer | undefined;
  let wake: (() => void) | undefined;
  let idle: "ClickHouse" | "the reader of a result" = "ClickHouse";
  let take = (bytes: Buffer): boolean => {
    arrived = bytes;
    wake?.();
    return false;
  };
  const socket = connectSocket(server, (bytes) => take(bytes));
  socket.setTimeout(idleMsMax);
  socket.on("timeout", () => socket.destroy(brokenOff(`${idle} was idle for ${idleMsMax / 1000} s`)));
  // It is with whoever reads, now or later.
  socket.on("error", () => undefined);
  socket.on("close", () => wake?.());
  function goOn(): void {
    idle = "ClickHouse";
    // From now on it is not the reader's time any more.
    socket.setTimeout(idleMsMax);
    socket.resume();
  }
  async function read() {
    if (arrived === undefined && !socket.destroyed) {
      const moved = new Promise<void>((resolve) => (wake = resolve));
      goOn();
      await moved;
      wake = undefined;
      idle = "the reader of a result";
    }
    const bytes = arrived;
    arrived = undefined;
    if (bytes === undefined && socket.errored !== null) throw socket.errored;
    return bytes;
  }
  function flow(takeBytes: WriteBytes): Promise<void> {
    const fail = (error: Error) => void socket.destroy(error);
    take = (bytes) => {
      try {
        const out = takeBytes(bytes);
        if (out === undefined) return true;
        idle = "the reader of a result";
        out.then(goOn, fail);
      } catch (error) {
        fail(error as Error);
      }
      return false;
    };
    return new Promise((resolve, reject) => {
      const end = () => (socket.errored === null ? resolve() : reject(socket.errored));
      if (socket.closed) end();
      else socket.once("close", end);
      goOn();
    });
  }
  return { socket, read, flow };
}

/** Pauses after what it has told of, unless it is answered true. */
function connectSocket(server: URL, onBytes: (bytes: Buffer) => boolean): Socket {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const port = Number(server.port) || DEFAULT_PORTS[server.protocol] || 0;
  if (server.protocol === "https:") {
    const socket = connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) });
    return socket.on("data", (bytes: Buffer) => {
      socket.pause();
      if (onBytes(bytes)) socket.resume();
    });
  }
  const callback = (length: number, buffer: Uint8Array) => onBytes((buffer as Buffer).subarray(0, length));
  return connect({ host, port, onread: { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback } });
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function composeRequest(server: URL, asked: ResultRequest): Buffer {
  const search = new URLSearchParams({ database: databaseOf(server.href) });
  for (const [name, value] of Object.entries(asked.clickhouse_settings)) search.set(name, String(value));
  for (const [name, value] of Object.entries(asked.query_params)) search.set(`param_${name}`, textOf(value));
  const user = decodeURIComponent(server.username) || "default";
  const credentials = Buffer.from(`${user}:${decodeURIComponent(server.password)}`).toString("base64");
  const query = Buffer.from(asked.query);
  const lines = [
    `POST /?${search.toString()} HTTP/1.1`,
    `Host: ${server.host}`,
    `Authorization: Basic ${credentials}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${query.length}`,
    "Connection: close",
    ...Object.entries(asked.http_headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), query]);
}

/** A parameter as ClickHouse reads one: texts in a list are quoted. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => `'${textOf(each)}'`).join(",")}]`;
  if (typeof value === "number") return String(value);
  if (typeof value === "string")
    return value.replace(/[\\'\t\n\r]/g, (character) => ESCAPES[character] ?? "");
  throw new Error(`no parameter of a query can be a ${typeof value}`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

async function readResult({ socket, read, flow }: Connection): Promise<Result> {
  const decoder = new HttpAnswerDecoder();
  async function nextBytes(): Promise<Buffer> {
    const bytes = await read();
    if (bytes === undefined) throw brokenOff(BROKEN_OFF);
    return bytes;
  }
  async function* body(first: Buffer[]): AsyncGenerator<Buffer> {
    try {
      yield* first;
      while (!decoder.isComplete) yield* decoder.decode(await nextBytes());
    } finally {
      socket.destroy();
    }
  }
  function passingAfter(first: { parts: Buffer[]; chunks: Buffer }): PassChunks {
    return async (write, look) => {
      let out: Promise<void> | undefined;
      function pass(parts: Buffer[], chunks: Buffer): Promise<void> | undefined {
        for (const part of parts) look(part);
        out = write(chunks);
        if (decoder.isComplete) socket.destroy();
        return out;
      }
      try {
        await pass(first.parts, first.chunks);
        if (!decoder.isComplete) await flow((bytes) => pass(decoder.decode(bytes), bytes));
        await out;
      } finally {
        socket.destroy();
      }
      if (!decoder.isComplete) throw brokenOff(BROKEN_OFF);
    };
  }
  try {
    let bytes: Buffer = Buffer.alloc(0);
    let parts: Buffer[] = [];
    while (decoder.head === undefined) {
      bytes = await nextBytes();
      parts = decoder.decode(bytes);
    }
    const { status, headers } = decoder.head;
    const stream: Result["stream"] = Object.assign(body(parts), { destroy: () => socket.destroy() });
    const chunks = bytes.subarray(decoder.bodyStart);
    if (decoder.isChunked) stream.passChunks = passingAfter({ parts, chunks });
    if (status !== 200) throw await refusalOf(decoder.head, stream);
    return { stream, response_headers: headers };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

const BROKEN_OFF = "ClickHouse broke its answer off";

/** Without its text where that is compressed, as what was asked for would have been. */
async function refusalOf({ status, headers }: AnswerHead, body: AsyncIterable<Buffer>): Promise<Error> {
  let text = "";
  for await (const part of body) if (text.length < REFUSAL_BYTES_MAX) text += part.toString();
  const isText = text.trim() !== "" && headers["content-encoding"] === undefined;
  const code = headers["x-clickhouse-exception-code"] ?? "none";
  return isText
    ? parseError(text)
    : new Error(`ClickHouse answered with status ${status}, exception ${code}`);
}

/** As a connection that was reset: whoever waits for a store knows what it means. */
function brokenOff(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}
