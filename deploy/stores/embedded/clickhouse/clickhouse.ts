import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { totalmem } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import type { Logger } from "pino";
import { onFreePort } from "../../../process/free-port.js";
import { syncDisk } from "../../../process/libc.js";
import { loadSecretFile, writeDurably } from "../../../process/private-files.js";
import { explainFileError } from "../../../process/start-failure.js";
import { clickHouseConfig, clickHouseUsers, engineCommand, engineMemory } from "./clickhouse-config.js";
import { brokenParts, reconcileTokens } from "./reconcile-tokens.js";
import {
  type Running,
  type SuperviseServerOptions,
  superviseServer,
  untilAnswering,
} from "../supervise-server.js";
import { endOrphans, isServerOf } from "../find-servers.js";
import { type ServerProcess, spawnServer } from "../server-process.js";

export interface ClickHouseOptions extends Pick<SuperviseServerOptions, "steadyMs"> {
  /** A folder of its own, below the locked data directory. */
  dir: string;
  log: Logger;
  /** Default: half of the memory, at most 8 GiB. */
  memoryBytesMax?: number;
}

/** A ClickHouse server on 127.0.0.1 that ends with this process. When it dies, it is restarted on the same port. */
export interface EmbeddedClickHouse extends AsyncDisposable {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The pid of the current process; another one after a restart. */
  readonly pid: number;
  /** Resolves with the reason when the server died and could not be restarted. Never resolves after disposal. */
  readonly exited: Promise<Error>;
}

interface Server {
  dir: string;
  log: Logger;
  port: number;
  password: string;
}

const USERNAME = "maintainer";
const SHUTDOWN_MS_MAX = 5_000;

/** Starts ClickHouse on the folder and resolves when it answers queries. Throws StartFailure when it does not start. */
export async function startClickHouse(options: ClickHouseOptions): Promise<EmbeddedClickHouse> {
  const { dir, log, steadyMs } = options;
  const password = await prepareFolder(options);
  const server: Server = { dir, log, port: 0, password };
  const supervised = await superviseServer({
    ...(steadyMs !== undefined && { steadyMs }),
    name: "ClickHouse",
    log,
    start: () =>
      server.port === 0
        ? onFreePort((port) => startOnPort(Object.assign(server, { port })))
        : startOnPort(server),
  });
  return {
    url: urlOf(server),
    username: USERNAME,
    password,
    get pid() {
      return supervised.pid;
    },
    exited: supervised.exited,
    [Symbol.asyncDispose]: () => supervised.stop(),
  };
}

async function prepareFolder({
  dir,
  memoryBytesMax = engineMemory(process.constrainedMemory(), totalmem()),
}: ClickHouseOptions): Promise<string> {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const password = loadSecretFile(join(dir, "password"), () => randomBytes(24).toString("base64url"));
    const usersPath = join(dir, "users.xml");
    const user = { username: USERNAME, password };
    await writeFile(usersPath, clickHouseUsers(user), { mode: 0o600 });
    await writeFile(join(dir, "config.xml"), clickHouseConfig({ usersPath, user, memoryBytesMax }), {
      mode: 0o600,
    });
    return password;
  } catch (error) {
    throw explainFileError(error, dir);
  }
}

async function startOnPort(server: Server): Promise<Running> {
  const { dir } = server;
  await endOrphans(dir, {
    name: "ClickHouse",
    isServer: isServerOf.ClickHouse,
    signals: [{ signal: "SIGKILL", patienceMs: 20_000 }],
  });
  // What an earlier process wrote must not be lost later, once ClickHouse has removed the sources of its parts.
  syncDisk(dir);
  const data = join(dir, "data");
  for (;;) {
    reconcile(server, data);
    const broken = brokenParts(data).length;
    const running = await startEngine(server);
    if (brokenParts(data).length === broken) {
      writeDurably(join(dir, BOOT_ID), readBootId());
      return running;
    }
    server.log.warn({ store: "ClickHouse" }, "a power cut left broken parts; their inserts will be repeated");
    await running.stop();
  }
}

/** Names the boot of the machine on which ClickHouse last started here. */
const BOOT_ID = "boot-id";

/** Another one after each start of the machine. Source: random(4). */
function readBootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
}

function reconcile({ dir, log }: Server, data: string): void {
  const file = join(dir, BOOT_ID);
  const afterPowerCut = !existsSync(file) || readFileSync(file, "utf8") !== readBootId();
  const parts = reconcileTokens(data, { afterPowerCut });
  if (parts.forgotten.length + parts.detached.length > 0)
    log.warn({ store: "ClickHouse", ...parts }, "inserts were interrupted and will be repeated");
}

async function startEngine(server: Server): Promise<Running> {
  const child = await spawnEngine(server);
  try {
    const isUp = () => answers(server, "SELECT 1");
    await untilAnswering(child, { name: "ClickHouse", dir: server.dir, answers: isUp });
  } catch (error) {
    await child.end([{ signal: "SIGKILL", patienceMs: SHUTDOWN_MS_MAX }]);
    throw error;
  }
  return { pid: child.pid, gone: child.gone, stop: () => stopEngine(server, child) };
}

function spawnEngine({ log, ...server }: Server): Promise<ServerProcess> {
  return spawnServer({ ...engineCommand(server), onLine: (line) => logLine(log, line) });
}

/** Callers log failed queries, so the server's messages about them are only logged at debug level. */
function logLine(log: Logger, line: string): void {
  if (line.includes("<Fatal>")) log.error({ store: "ClickHouse" }, line);
  else if (line.includes("<Error>") || line.includes("<Warning>")) log.debug({ store: "ClickHouse" }, line);
  else log.trace({ store: "ClickHouse" }, line);
}

/**
 * Sends the password, so that another server on this port is not mistaken for this one. With `node:http`, because loading
 * `fetch` for it took the start a quarter of a second.
 */
async function answers({ port, password }: Server, query: string): Promise<boolean> {
  const asked = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    agent: false,
    headers: { "X-ClickHouse-User": USERNAME, "X-ClickHouse-Key": password },
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  try {
    asked.end(query);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    await finished(answer.resume());
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}

const ANSWER_MS_MAX = 10_000;

/** Without its holding query, the engine shuts down as after the last query of a script. */
async function stopEngine(server: Server, child: ServerProcess): Promise<void> {
  await answers(server, "KILL QUERY WHERE query LIKE 'SELECT sleepEachRow(1) FROM system.numbers%' ASYNC");
  if (await child.isGoneWithin(SHUTDOWN_MS_MAX)) return;
  await child.end([{ signal: "SIGKILL", patienceMs: SHUTDOWN_MS_MAX }]);
}

function urlOf({ port }: Server): string {
  return `http://127.0.0.1:${port}`;
}
