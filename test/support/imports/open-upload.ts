import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { connect, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { Pool } from "pg";
import { uploadStore } from "../../../api/features/imports/uploads.js";

/** A request whose body is sent by hand, on a connection of its own. */
export interface Upload {
  /** The whole answer; rejects when the connection breaks before it is complete. */
  readonly answer: Promise<UploadAnswer>;
  /** Resolves when the bytes are handed to the connection. */
  send(bytes: Buffer | string): Promise<void>;
  end(): void;
  /** Breaks the connection. */
  breakOff(): void;
}

export interface UploadAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON. */
  body: unknown;
}

/** Sends the headers at once; without a `Content-Length` among them the body is chunked. */
export function openUpload(api: ApiClient, path: string, headers: Record<string, string> = {}): Upload {
  const sent = { Authorization: `Bearer ${api.token}`, "Content-Type": "application/ndjson", ...headers };
  const request = openRequest(new URL(path, api.url), { method: "POST", headers: sent, agent: false });
  const answer = new Promise<UploadAnswer>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => void readAnswer(response).then(resolve, reject));
  });
  // A sender that breaks off does not wait for the answer.
  answer.catch(() => undefined);
  request.flushHeaders();
  return {
    answer,
    async send(bytes) {
      if (!request.write(bytes)) await once(request, "drain");
    },
    end: () => void request.end(),
    breakOff: () => void request.destroy(),
  };
}

async function readAnswer(response: IncomingMessage): Promise<UploadAnswer> {
  return { status: response.statusCode ?? 0, headers: response.headers, body: await json(response) };
}

/** A connection on which a request is written byte by byte, as no HTTP client would. */
export interface RawConnection {
  send(bytes: Buffer | string): Promise<void>;
  end(): void;
  breakOff(): void;
  /** Everything that was answered, once the server has closed the connection. */
  readonly closed: Promise<string>;
  /** The answer so far. */
  answered(): string;
}

/** Opens a connection to the API and sends the start of a request; `headers` are lines. */
export async function openSocket(
  api: ApiClient,
  { path, headers }: { path: string; headers: readonly string[] },
): Promise<RawConnection> {
  const connection = await openBareSocket(api.url);
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${api.token}`,
    ...headers,
  ];
  await connection.send(`${lines.join("\r\n")}\r\n\r\n`);
  return connection;
}

export async function openBareSocket(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  // A reset is one of the ways in which a server closes.
  socket.on("error", () => undefined);
  const answered = () => Buffer.concat(parts).toString();
  return {
    answered,
    send: (bytes) => sent(socket, bytes),
    end: () => void socket.end(),
    breakOff: () => void socket.destroy(),
    closed: new Promise((resolve) => socket.once("close", () => resolve(answered()))),
  };
}

/** Resolves when there is room for more, or nobody left to send to. */
function sent(socket: Socket, bytes: Buffer | string): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** The upload of a started import is complete: a line in a chunk, with this receipt stamp. */
export async function completeUpload(
  pg: Pool,
  {
    stamp = 1,
    logEnds = [],
    ...named
  }: { importId: string; ownerId: string; stamp?: number; logEnds?: number[] },
): Promise<void> {
  await uploadStore(pg).completeUpload({
    ...named,
    chunksTotal: 1,
    bytes: 1,
    bytesUnpacked: 1,
    lines: 1,
    stamp,
    logEnds,
  });
}
