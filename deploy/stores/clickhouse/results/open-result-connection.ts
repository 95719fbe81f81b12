import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { WriteBytes } from "../../../../aggregate/queries/open-rows.js";

const READ_BYTES = 256 * 1024;

/** To ClickHouse, for one result. */
export interface ResultConnection {
  socket: Socket;
  /** The bytes that came next, overwritten by the next call; undefined at the end of the connection. */
  read: () => Promise<Buffer | undefined>;
  /** Gives all that comes to `take` in place of `read`; resolves at the end of the connection. */
  flow: (take: WriteBytes) => Promise<void>;
}

export function openResultConnection(server: URL, idleMsMax: number): ResultConnection {
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

/** As a connection that was reset: whoever waits for a store knows what it means. */
export function brokenOff(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}
