import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

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
