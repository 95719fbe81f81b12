import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { parseError } from "@clickhouse/client";
import type { Result, ResultRequest, ResultSource } from "../aggregate/open-rows.js";
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
 * curl reads from ClickHouse, with a collection of garbage for every 13 MB. Read so it is 0.9 (`npm run bench -- csv`).
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
      const { socket, read } = openConnection(new URL(url), idleMsMax);
      const stop = () => void socket.destroy(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      open.add(socket);
      socket.once("close", () => {
        signal.removeEventListener("abort", stop);
        open.delete(socket);
        place[Symbol.dispose]();
      });
      socket.write(request);
      return readResult(read, socket);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      for (const socket of open) socket.destroy();
    },
  };
}

/** The bytes that came next, overwritten by the next call; undefined at the end of the connection. */
type Read = () => Promise<Buffer | undefined>;

function openConnection(server: URL, idleMsMax: number): { socket: Socket; read: Read } {
  let arrived: Buffer | undefined;
  let wake: (() => void) | undefined;
  const socket = connectSocket(server, (bytes) => {
    arrived = bytes;
    wake?.();
  });
  socket.setTimeout(idleMsMax);
  socket.on("timeout", () => {
    const who = wake === undefined ? "the reader of a result" : "ClickHouse";
    socket.destroy(brokenOff(`${who} was idle for ${idleMsMax / 1000} s`));
  });
  // It is with whoever reads, now or later.
  socket.on("error", () => undefined);
  socket.on("close", () => wake?.());
  async function read() {
    if (arrived === undefined && !socket.destroyed) {
      const moved = new Promise<void>((resolve) => (wake = resolve));
      // From now on it is not the reader's time any more.
      socket.setTimeout(idleMsMax);
      socket.resume();
      await moved;
      wake = undefined;
    }
    const bytes = arrived;
    arrived = undefined;
    if (bytes === undefined && socket.errored !== null) throw socket.errored;
    return bytes;
  }
  return { socket, read };
}

/** Pauses after whatever it has told of. */
function connectSocket(server: URL, onBytes: (bytes: Buffer) => void): Socket {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const port = Number(server.port) || DEFAULT_PORTS[server.protocol] || 0;
  if (server.protocol === "https:") {
    const socket = connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) });
    return socket.on("data", (bytes: Buffer) => {
      socket.pause();
      onBytes(bytes);
    });
  }
  const callback = (length: number, buffer: Uint8Array) => {
    onBytes((buffer as Buffer).subarray(0, length));
    return false;
  };
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

async function readResult(read: Read, socket: Socket): Promise<Result> {
  const decoder = new HttpAnswerDecoder();
  async function next(): Promise<Buffer[]> {
    const bytes = await read();
    if (bytes === undefined) throw brokenOff("ClickHouse broke its answer off");
    return decoder.decode(bytes);
  }
  async function* body(first: Buffer[]): AsyncGenerator<Buffer> {
    try {
      yield* first;
      while (!decoder.isComplete) yield* await next();
    } finally {
      socket.destroy();
    }
  }
  try {
    let parts: Buffer[] = [];
    while (decoder.head === undefined) parts = await next();
    const stream = Object.assign(body(parts), { destroy: () => socket.destroy() });
    const { status, headers } = decoder.head;
    if (status !== 200) throw await refusalOf(decoder.head, stream);
    return { stream, response_headers: headers };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

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
