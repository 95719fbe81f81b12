import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { type SecureContextOptions, connect as connectTls } from "node:tls";

export interface HttpConnection {
  socket: Socket;
  /** The next bytes, overwritten by the next call; undefined at the end of the connection. */
  read: () => Promise<Buffer | undefined>;
}

export interface ConnectionOptions {
  /** The longest time without a byte from the server, and the longest that the reader may take for one part. */
  idleMsMax: number;
  bufferBytes: number;
  serverName: string;
  lookup?: LookupFunction;
  /** Certificates, in place of the system's authorities. */
  tls?: Pick<SecureContextOptions, "ca" | "cert" | "key">;
}

export function openConnection(server: URL, options: ConnectionOptions): HttpConnection {
  const { idleMsMax, serverName } = options;
  let arrived: Buffer | undefined;
  let wake: (() => void) | undefined;
  let idle = serverName;
  const socket = connectSocket(server, options, (bytes) => {
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
      idle = serverName;
      // Restarts the timer, which has measured the reader so far.
      socket.setTimeout(idleMsMax);
      socket.resume();
      await changed;
      wake = undefined;
      idle = "the reader of a response";
    }
    const bytes = arrived;
    arrived = undefined;
    if (bytes === undefined && socket.errored !== null) throw socket.errored;
    return bytes;
  }
  return { socket, read };
}

/** Pauses after each call of `onBytes`. */
function connectSocket(
  server: URL,
  { bufferBytes, lookup, tls }: ConnectionOptions,
  onBytes: (bytes: Buffer) => void,
): Socket {
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const port = Number(server.port) || DEFAULT_PORTS[server.protocol] || 0;
  const address = { host, port, ...(lookup !== undefined && { lookup }) };
  if (server.protocol === "https:") {
    const socket = connectTls({ ...tls, ...address, ...(isIP(host) === 0 && { servername: host }) });
    return socket.on("data", (bytes: Buffer) => {
      socket.pause();
      onBytes(bytes);
    });
  }
  const callback = (length: number, buffer: Uint8Array) => {
    onBytes((buffer as Buffer).subarray(0, length));
    return false;
  };
  return connect({ ...address, onread: { buffer: Buffer.allocUnsafeSlow(bufferBytes), callback } });
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** An error with the code of a reset connection, which callers treat as an unavailable server. */
export function connectionLost(message: string): Error {
  return Object.assign(new Error(message), { code: "ECONNRESET" });
}
