import type { HttpConnection } from "../../http/open-connection.js";

/** Connections to HTTP servers, kept for a short time after their use. */
export interface ConnectionPool extends Disposable {
  /** The connections in use. */
  readonly used: number;
  /** Those of one client. */
  usedBy(client: string): number;
  /** The kept connection to this server that was used last. The server may have closed it. */
  takeKept(server: URL, client: string): HttpConnection | undefined;
  open(server: URL, client: string): HttpConnection;
  /** Keeps a connection whose answer is complete. */
  release(connection: HttpConnection): void;
}

/** Shorter than servers keep theirs: 5 s in Node, a minute and more in others. */
const KEPT_MS = 4_000;
const KEPT_MAX = 64;

export function createConnectionPool(connect: (server: URL) => HttpConnection): ConnectionPool {
  const used = new Map<HttpConnection, { origin: string; client: string }>();
  const kept = new Map<HttpConnection, { origin: string; timer: NodeJS.Timeout }>();
  return {
    get used() {
      return used.size;
    },
    usedBy: (client) => [...used.values()].filter((use) => use.client === client).length,
    takeKept({ origin }, client) {
      const [connection] = [...kept].reverse().find(([, known]) => known.origin === origin) ?? [];
      if (connection === undefined) return undefined;
      clearTimeout(kept.get(connection)?.timer);
      kept.delete(connection);
      used.set(connection, { origin, client });
      return connection;
    },
    open(server, client) {
      const connection = connect(server);
      used.set(connection, { origin: server.origin, client });
      connection.socket.once("close", () => {
        clearTimeout(kept.get(connection)?.timer);
        kept.delete(connection);
        used.delete(connection);
      });
      return connection;
    },
    release(connection) {
      const { origin } = used.get(connection) ?? {};
      used.delete(connection);
      if (origin === undefined || kept.size >= KEPT_MAX) return void connection.socket.destroy();
      kept.set(connection, { origin, timer: setTimeout(() => connection.socket.destroy(), KEPT_MS) });
    },
    [Symbol.dispose]() {
      for (const { socket } of [...used.keys(), ...kept.keys()]) socket.destroy();
    },
  };
}
