import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Kept connections to an HTTP server that answers without bodies, until disposed of. */
export interface RawConnections extends Disposable {
  /** Sends a whole request as bytes and resolves with the status. Waits for a connection that is free. */
  send(request: Buffer): Promise<string>;
}

/**
 * Not Node's HTTP client: at thousands of requests a second it would cost more of the cores that are shared than what
 * is measured. Answers must say `Content-Length: 0`.
 */
export async function openRawConnections(url: string, count: number): Promise<RawConnections> {
  const { hostname, port } = new URL(url);
  const connections = await Promise.all(Array.from({ length: count }, () => open(hostname, Number(port))));
  const free = [...connections];
  const waiting: ((connection: Connection) => void)[] = [];
  return {
    async send(request) {
      // In turn: one that lies idle for seconds is closed by its server.
      const connection = free.shift() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
      try {
        return await connection.ask(request);
      } finally {
        const next = waiting.shift();
        if (next === undefined) free.push(connection);
        else next(connection);
      }
    },
    [Symbol.dispose]: () => connections.forEach(({ socket }) => socket.destroy()),
  };
}

interface Connection {
  socket: Socket;
  ask(request: Buffer): Promise<string>;
}

async function open(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  await once(socket, "connect");
  let held = "";
  let answered: ((status: string) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  socket.setEncoding("latin1");
  socket.on("data", (part: string) => {
    held += part;
    if (!held.endsWith("\r\n\r\n")) return;
    const status = /\r\ncontent-length: 0\r\n/i.test(held) ? held.slice(9, 12) : "with a body";
    held = "";
    answered?.(status);
  });
  const fail = (error: Error) => failed?.(error);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));
  return {
    socket,
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("the connection was closed while nothing was asked"));
        answered = resolve;
        failed = reject;
        socket.write(request);
      }),
  };
}
