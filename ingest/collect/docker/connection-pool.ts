import type { HttpConnection } from "../../http/open-connection.js";

/** Connections to HTTP servers, kept for a short time after their use. */
export interface ConnectionPool extends Disposable {
  /** The connections in use. */
  readonly used: number;
  /** The kept connection to this server that was used last. The server may have closed it. */
  takeKept(server: URL): HttpConnection | undefined;
  open(server: URL): HttpConnection;
  /** Keeps a connection whose answer is complete. */
  release(connection: HttpConnection): void;
}

/** Shorter than servers keep theirs: 5 s in Node, a minute and more in others. */
const KEPT_MS = 4_000;
const KEPT_MAX = 64;

export function createConnectionPool(connect: (server: URL) => HttpConnection): ConnectionPool {
  /** With the origins of their servers. */
  const used = new Map<HttpConnection, string>();
  const kept = new Map<HttpConnection, { origin: string; timer: NodeJS.Timeout }>();
  return {
    get used() {
      return used.size;
    },
    takeKept({ origin }) {
      const [connection] = [...kept].reverse().find(([, known]) => known.origin === origin) ?? [];
      if (connection === undefined) return undefined;
      clearTimeout(kept.get(connection)?.timer);
      kept.delete(connection);
      used.set(connection, origin);
      return connection;
    },
    open(server) {
      const connection = connect(server);
      used.set(connection, server.origin);
      connection.socket.once("close", () => {
        clearTimeout(kept.get(connection)?.timer);
        kept.delete(connection);
        used.delete(connection);
      });
      return connection;
    },
    release(connection) {
      const origin = used.get(connection);
      used.delete(connection);
      if (origin === undefined || kept.size >= KEPT_MAX) return void connection.socket.destroy();
      kept.set(connection, { origin, timer: setTimeout(() => connection.socket.destroy(), KEPT_MS) });
    },
    [Symbol.dispose]() {
      for (const { socket } of [...used.keys(), ...kept.keys()]) socket.destroy();
    },
  };
}
