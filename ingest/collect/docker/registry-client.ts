import { HttpAnswerDecoder } from "../../http/decode-http-answer.js";
import { connectionLost, openConnection, type HttpConnection } from "../../http/open-connection.js";
import { UpstreamFailure, type UpstreamGuard } from "../sites.js";

export interface RegistryClient extends Disposable {
  /**
   * Follows no redirect. Rejects with TooManyRequests, or for a failed connection, a forbidden address, a
   * late answer or an abort, which also ends the body.
   */
  ask(asked: RegistryRequest, signal: AbortSignal): Promise<RegistryAnswer>;
}

export interface RegistryRequest {
  method: "GET" | "HEAD";
  url: string;
  /** Shares the places with others, see `REGISTRY_LIMITS.requestsMax`. */
  client: string;
  /** The names and values are valid. */
  headers: Readonly<Record<string, string | string[]>>;
}

export interface RegistryAnswer {
  status: number;
  /** All values by name, in lower case. */
  headers: Readonly<Record<string, string[]>>;
  /** Each part is overwritten by the next one. Leaving the loop early closes the connection. */
  body: AsyncIterable<Buffer>;
}

export class TooManyRequests extends Error {}

export const REGISTRY_LIMITS = {
  /** From the request to the headers of the answer. */
  answerMsMax: 30_000,
  /** Without a byte, because the registry sends none or the client takes none. */
  idleMsMax: 120_000,
  /**
   * Each request has one buffer, whatever the size of its body: 128 MB in all. A client may have as many as
   * are free, so one that reads slowly gets at most half of them.
   */
  requestsMax: 500,
  bufferBytes: 256 * 1024,
};

/**
 * Any account can name a registry: each connection is made to an address that the guard has checked, and is
 * kept for that host only, because a pull makes about ten requests. Proxies of the environment are not used.
 * Node's own client allocates a buffer for every 64 KiB; with one for all reads, a blob takes half the CPU.
 */
export function createRegistryClient(
  guard: UpstreamGuard,
  limits: Partial<typeof REGISTRY_LIMITS> = {},
): RegistryClient {
  const { answerMsMax, requestsMax, ...connections } = { ...REGISTRY_LIMITS, ...limits };
  const options = { ...connections, lookup: guard.lookup, serverName: "the registry" };
  const pool = createConnectionPool((server) => openConnection(server, options));

  async function askOn(connection: HttpConnection, asked: RegistryRequest, signal: AbortSignal) {
    const { socket } = connection;
    const stop = () => void socket.destroy(signal.reason as Error);
    const late = setTimeout(() => socket.destroy(new UpstreamFailure("no response in time")), answerMsMax);
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (signal.aborted) stop();
      socket.write(headOf(asked), "latin1");
      return await readAnswer(connection, asked, () => {
        signal.removeEventListener("abort", stop);
        pool.release(connection);
      });
    } catch (error) {
      signal.removeEventListener("abort", stop);
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  return {
    async ask(asked, signal) {
      const fault = guard.faultOf(asked.url);
      if (fault !== undefined) throw new UpstreamFailure(`The URL ${fault}.`);
      const { client } = asked;
      if (pool.usedBy(client) >= requestsMax - pool.used) throw new TooManyRequests();
      const server = new URL(asked.url);
      const kept = pool.takeKept(server, client);
      if (kept !== undefined) {
        const { bytesRead } = kept.socket;
        try {
          return await askOn(kept, asked, signal);
        } catch (error) {
          // The registry closed a kept connection just then. On a new one this does not happen again.
          if (signal.aborted || kept.socket.bytesRead > bytesRead) throw error;
        }
      }
      return askOn(pool.open(server, client), asked, signal);
    },
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  };
}

function headOf({ method, url, headers }: RegistryRequest): string {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`, ...lines, "\r\n"].join("\r\n");
}

/** `onComplete` is called when the connection can take another request. */
async function readAnswer(
  connection: HttpConnection,
  { method }: RegistryRequest,
  onComplete: () => void,
): Promise<RegistryAnswer> {
  const decoder = new HttpAnswerDecoder({ isWithoutBody: method === "HEAD", isLenient: true });
  let first: Buffer | undefined;
  while (decoder.head === undefined) first = decodePart(decoder, await nextBytes(connection));
  const { status, values } = decoder.head;
  return { status, headers: values, body: bodyOf({ connection, decoder, first, onComplete }) };
}

interface StartedAnswer {
  connection: HttpConnection;
  decoder: HttpAnswerDecoder;
  /** The part that arrived with the head. */
  first: Buffer | undefined;
  onComplete: () => void;
}

async function* bodyOf({ connection, decoder, first, onComplete }: StartedAnswer): AsyncGenerator<Buffer> {
  let isWhole = false;
  try {
    if (first !== undefined) yield first;
    while (!decoder.isComplete) {
      const bytes = decoder.isEndless ? await connection.read() : await nextBytes(connection);
      if (bytes === undefined) return;
      const part = decodePart(decoder, bytes);
      if (part !== undefined) yield part;
    }
    isWhole = true;
  } finally {
    const saysClose = /\bclose\b/i.test(decoder.head?.headers["connection"] ?? "");
    if (isWhole && !saysClose) onComplete();
    else connection.socket.destroy();
  }
}

/**
 * The parts of the body in `bytes`, moved together: a write for each of a registry's one-byte chunks would
 * keep the event loop busy.
 */
function decodePart(decoder: HttpAnswerDecoder, bytes: Buffer): Buffer | undefined {
  const parts = decoder.decode(bytes);
  if (parts.length < 2) return parts[0];
  let end = 0;
  for (const part of parts) end += part.copy(bytes, end);
  return bytes.subarray(0, end);
}

async function nextBytes({ read }: HttpConnection): Promise<Buffer> {
  const bytes = await read();
  if (bytes === undefined)
    throw connectionLost("the registry closed the connection before its response was complete");
  return bytes;
}

/** Shorter than servers keep theirs: 5 s in Node, a minute and more in others. */
const KEPT_MS = 4_000;
const KEPT_MAX = 64;

/** Connections to HTTP servers, kept for a short time after their use. */
function createConnectionPool(connect: (server: URL) => HttpConnection) {
  const used = new Map<HttpConnection, { origin: string; client: string }>();
  const kept = new Map<HttpConnection, { origin: string; timer: NodeJS.Timeout }>();
  return {
    get used() {
      return used.size;
    },
    usedBy: (client: string) => [...used.values()].filter((use) => use.client === client).length,
    /** The kept connection to this server that was used last. The server may have closed it. */
    takeKept({ origin }: URL, client: string): HttpConnection | undefined {
      const [connection] = [...kept].reverse().find(([, known]) => known.origin === origin) ?? [];
      if (connection === undefined) return undefined;
      clearTimeout(kept.get(connection)?.timer);
      kept.delete(connection);
      used.set(connection, { origin, client });
      return connection;
    },
    open(server: URL, client: string) {
      const connection = connect(server);
      used.set(connection, { origin: server.origin, client });
      connection.socket.once("close", () => {
        clearTimeout(kept.get(connection)?.timer);
        kept.delete(connection);
        used.delete(connection);
      });
      return connection;
    },
    /** Keeps a connection whose answer is complete. */
    release(connection: HttpConnection) {
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
