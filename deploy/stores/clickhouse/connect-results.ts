import type { Socket } from "node:net";
import { parseError } from "@clickhouse/client";
import type { Result, ResultRequest, ResultSource } from "../../../aggregate/queries/open-rows.js";
import { limitConcurrency } from "../../../schemas/async/limit-concurrency.js";
import { readTlsOf } from "../../process/tls-files.js";
import { databaseOf, type Connection } from "./connect-clickhouse.js";
import { HttpAnswerDecoder, type AnswerHead } from "../../../ingest/http/decode-http-answer.js";
import { connectionLost, openConnection, type HttpConnection } from "../../../ingest/http/open-connection.js";

/** As many as the other clients of ClickHouse have connections; further queries wait. */
const RESULTS_MAX = 20;
const READ_BYTES = 1024 * 1024;
const IDLE_MS_MAX = 300_000;
const ERROR_BYTES_MAX = 64 * 1024;

export interface ResultsOptions extends Connection {
  /** The longest time without a byte from ClickHouse, and the longest that the reader may take for one part. */
  idleMsMax?: number;
}

/**
 * Streams results of ClickHouse as bytes, each over a connection of its own. Without TLS, a connection reuses one buffer
 * for all reads. Clients on Node's streams allocate a buffer for every 64 KiB, which V8 must collect: they reach about
 * 0.7 of the throughput of curl, this one 0.88 (`npm run bench -- csv`).
 */
export function connectResults(
  url: string,
  { idleMsMax = IDLE_MS_MAX, database = databaseOf(url), settings = {} }: ResultsOptions = {},
): ResultSource & AsyncDisposable {
  const tls = readTlsOf(url);
  const takePermit = limitConcurrency({ perKey: RESULTS_MAX, inAll: RESULTS_MAX });
  const open = new Set<Socket>();
  let isClosed = false;
  return {
    async exec(asked) {
      const { abort_signal: signal } = asked;
      const request = composeRequest(new URL(url), {
        ...asked,
        database,
        clickhouse_settings: { ...settings, ...asked.clickhouse_settings },
      });
      const permit = await takePermit([], signal);
      if (isClosed || signal.aborted) {
        permit[Symbol.dispose]();
        throw isClosed
          ? connectionLost("the client for results of ClickHouse is closed")
          : (signal.reason as Error);
      }
      const connection = openConnection(new URL(url), {
        idleMsMax,
        bufferBytes: READ_BYTES,
        serverName: "ClickHouse",
        tls,
      });
      const { socket } = connection;
      const stop = () => void socket.destroy(signal.reason as Error);
      signal.addEventListener("abort", stop, { once: true });
      open.add(socket);
      socket.once("close", () => {
        signal.removeEventListener("abort", stop);
        open.delete(socket);
        permit[Symbol.dispose]();
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

function composeRequest(server: URL, { database, ...asked }: ResultRequest & { database: string }): Buffer {
  const search = new URLSearchParams({ database });
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

/** Formats a parameter for ClickHouse. Strings in a list are quoted. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => `'${textOf(each)}'`).join(",")}]`;
  if (typeof value === "number") return String(value);
  if (typeof value === "string")
    return value.replace(/[\\'\t\n\r]/g, (character) => ESCAPES[character] ?? "");
  throw new Error(`a query parameter cannot be a ${typeof value}`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

async function readResult(connection: HttpConnection): Promise<Result> {
  const { socket } = connection;
  const decoder = new HttpAnswerDecoder();
  try {
    let parts: Buffer[] = [];
    while (decoder.head === undefined) parts = decoder.decode(await nextBytes(connection));
    const { status, headers } = decoder.head;
    const rows = partsOf({ connection, decoder, parts });
    const stream = Object.assign(rows, { destroy: () => socket.destroy() });
    if (status !== 200) throw await queryErrorOf(decoder.head, stream);
    return { stream, response_headers: headers };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A result after its head, with the parts of the body that arrived together with it. */
interface StartedResult {
  connection: HttpConnection;
  decoder: HttpAnswerDecoder;
  parts: Buffer[];
}

async function* partsOf({ connection, decoder, parts }: StartedResult): AsyncGenerator<Buffer> {
  try {
    yield* parts;
    while (!decoder.isComplete) yield* decoder.decode(await nextBytes(connection));
  } finally {
    connection.socket.destroy();
  }
}

async function nextBytes({ read }: HttpConnection): Promise<Buffer> {
  const bytes = await read();
  if (bytes === undefined)
    throw connectionLost("ClickHouse closed the connection before its response was complete");
  return bytes;
}

/** The error of a failed query. When ClickHouse compressed the text, the error only has the status and the code. */
async function queryErrorOf({ status, headers }: AnswerHead, body: AsyncIterable<Buffer>): Promise<Error> {
  let text = "";
  for await (const part of body) if (text.length < ERROR_BYTES_MAX) text += part.toString();
  const isText = text.trim() !== "" && headers["content-encoding"] === undefined;
  const code = headers["x-clickhouse-exception-code"] ?? "none";
  return isText ? parseError(text) : new Error(`ClickHouse returned status ${status}, exception ${code}`);
}
