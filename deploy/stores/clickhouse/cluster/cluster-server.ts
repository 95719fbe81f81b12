import { setMaxListeners } from "node:events";
import { get as getPlainly } from "node:http";
import { get as getSecurely } from "node:https";
import { pause } from "../../../../schemas/async/pause.js";
import { type TlsOptions, readTlsOf } from "../../../process/tls-files.js";
import { NETWORK_CODES } from "../../../../schemas/problem.js";
import type { ClickHouse } from "../../../../schemas/shards.js";

/** A server that was found down is not asked for this long. After it, it must answer a ping first. */
const DOWN_MS = 3_000;
/** How often a server with a long request is looked at, and how long it may take to say that it is there. */
const WATCH_MS = 5_000;
const PING_MS_MAX = 5_000;
/** A server under load may miss one. */
const MISSED_MAX = 2;

/** One server of a cluster, and whether it is up as far as this thread knows. */
export class ClusterServer {
  private known: boolean;
  private downUntil = 0;
  private asking: Promise<boolean> | undefined;
  private readonly tls: TlsOptions;

  /** `url` may have credentials. A server is up only while `isPrepared` says that its tables are complete. */
  constructor(
    readonly url: string,
    private readonly isPrepared?: () => Promise<boolean>,
  ) {
    this.known = isPrepared === undefined;
    this.tls = readTlsOf(url);
  }

  get name(): string {
    return new URL(this.url).host;
  }

  /** Asks only a server that is not known yet, or was found down. */
  async isUp(): Promise<boolean> {
    if (this.known) return true;
    if (performance.now() < this.downUntil) return false;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  private async ask(): Promise<boolean> {
    this.known = (await this.answers()) && (await (this.isPrepared?.() ?? true));
    if (!this.known) this.noteDown();
    return this.known;
  }

  noteDown(): void {
    this.known = false;
    this.downUntil = performance.now() + DOWN_MS;
  }

  /**
   * Aborts when the caller does or the server does not answer any more: a machine that stands still breaks no
   * connection. Rejects with ServerDown where the server is to blame.
   */
  async run<T>(request: (signal: AbortSignal) => Promise<T>, caller?: AbortSignal): Promise<T> {
    const stop = new AbortController();
    const forward = () => stop.abort(caller?.reason);
    // One signal stands for all statements of a caller. Their results may be streams, so it is heard after the answer.
    if (caller !== undefined) setMaxListeners(0, caller);
    caller?.addEventListener("abort", forward, { once: true });
    if (caller?.aborted) forward();
    const done = new AbortController();
    const silent = this.watch(done.signal).then((isSilent) => {
      if (isSilent) stop.abort();
      return isSilent;
    });
    try {
      return await request(stop.signal);
    } catch (cause) {
      done.abort();
      caller?.removeEventListener("abort", forward);
      // It may have lost its disk since it was asked.
      if (codeOf(cause) === UNKNOWN_TABLE) this.known = this.isPrepared === undefined;
      const isDown = isUnreachable(cause) || (await silent);
      if (!isDown || caller?.aborted) throw cause;
      this.noteDown();
      throw new ServerDown(`the ClickHouse server ${this.name} cannot be used: ${String(cause)}`, cause);
    } finally {
      done.abort();
    }
  }

  /** Resolves with true once the server is silent, with false once the signal aborts. */
  private async watch(done: AbortSignal): Promise<boolean> {
    for (let missed = 0; missed < MISSED_MAX;) {
      await pause(WATCH_MS, { signal: done, ref: false });
      if (done.aborted) return false;
      missed = (await this.answers()) ? 0 : missed + 1;
    }
    return !done.aborted;
  }

  /** On a connection of its own: those of the client may all wait. */
  private answers(): Promise<boolean> {
    const { origin, protocol } = new URL(this.url);
    const get = protocol === "https:" ? getSecurely : getPlainly;
    const options = { ...this.tls, agent: false, signal: AbortSignal.timeout(PING_MS_MAX) };
    return new Promise((resolve) => {
      const request = get(`${origin}/ping`, options, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      });
      request.on("error", () => resolve(false));
    });
  }
}

/** A server of a shard cannot be asked now: another one may be. With the code of a connection that fails. */
export class ServerDown extends Error {
  readonly code = "EHOSTUNREACH";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ServerDown";
  }
}

function isUnreachable(error: unknown): boolean {
  return (error instanceof Error && error.message === "Timeout error.") || UNREACHABLE.has(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

const UNKNOWN_TABLE = "60";

/** Errors of connections, and those by which a server says that it takes nothing. Names: ClickHouse, ErrorCodes.cpp. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...NETWORK_CODES,
  "81", // UNKNOWN_DATABASE, of a server that lost its disk
  "225", // NO_ZOOKEEPER
  "242", // TABLE_IS_READ_ONLY
  "999", // KEEPER_EXCEPTION
]);

export interface Connected<Client> {
  server: ClusterServer;
  client: Client;
}

/**
 * Runs `work` on the first server that is up, and on the next where that turns out to be down; with `once`
 * the first try is the last. `what` names them in errors.
 */
export async function onFirstUp<Client, T>(
  servers: readonly Connected<Client>[],
  { what, once = false }: { what: string; once?: boolean },
  work: (connected: Connected<Client>) => Promise<T>,
): Promise<T> {
  let down: ServerDown | undefined;
  for (const connected of servers) {
    if (!(await connected.server.isUp())) continue;
    try {
      return await work(connected);
    } catch (error) {
      if (!(error instanceof ServerDown)) throw error;
      down = error;
      if (once) break;
    }
  }
  const names = servers.map(({ server }) => server.name).join(", ");
  throw down ?? new ServerDown(`no server of ${what} responds: ${names}`);
}

/** A client of the first server that is up, in the order that `order` answers for each request. */
export function failOver(order: () => readonly Connected<ClickHouse>[], what: string): ClickHouse {
  function run<Asked extends { abort_signal?: AbortSignal; values?: unknown }, T>(
    asked: Asked,
    call: (client: ClickHouse, asked: Asked) => Promise<T>,
  ): Promise<T> {
    // A body that was begun cannot be sent again: the caller makes another.
    const once = isStream(asked.values);
    return onFirstUp(order(), { what, once }, ({ server, client }) =>
      server.run((signal) => call(client, { ...asked, abort_signal: signal }), asked.abort_signal),
    );
  }
  return {
    command: (asked) => run(asked, (client, request) => client.command(request)),
    exec: (asked) => run(asked, (client, request) => client.exec(request)),
    insert: (asked) => run(asked, (client, request) => client.insert(request)),
    query: (asked) => run(asked, (client, request) => client.query(request)),
  };
}

function isStream(values: unknown): boolean {
  return typeof values === "object" && values !== null && "pipe" in values;
}
