import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const READ_BYTES = 1024 * 1024;

/** A connection to ClickHouse for one result. */
export interface ResultConnection {
  socket: Socket;
  /** The next bytes, overwritten by the next call; undefined at the end of the connection. */
  read: () => Promise<Buffer | undefined>;
}

export function openResultConnection(server: URL, idleMsMax: number): ResultConnection {
  let arrived: Buffer | undefined;
  let wake: (() => void) | undefined;
  let idle: "ClickHouse" | "the reader of a result" = "ClickHouse";
  const socket = connectSocket(server, (bytes) => {
    arrived = bytes;
    wake?.();
  });
  socket.setTimeout(idleMsMax);
  socket.on("timeout", () => socket.destroy(connectionLost(`${idle} was idle for ${idleMsMax / 1000} s`)));
  // read() throws the error.
  socket.on("error", () => undefined);
  socket.on("close", () => wake?.());
  async function read() {
    if (arrived === undefined && !socket.destroyed) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      idle = "ClickHouse";
      // Restarts the timer, which has measured the reader so far.
      socket.setTimeout(idleMsMax);
      socket.resume();
      await changed;
      wake = undefined;
      idle = "the reader of a result";
    }
    const bytes = arrived;
    arrived = undefined;
    if (bytes === undefined && socket.errored !== null) throw socket.errored;
    return bytes;
  }
  return { socket, read };
}

/** Pauses after each call of `onBytes`. */
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

/** An error with the code of a reset connection, which callers treat as an unavailable store. */
export function connectionLost(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}
