import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { onFreePort } from "../../../deploy/process/free-port.js";
import {
  clickHouseUsers,
  engineCommand,
} from "../../../deploy/stores/embedded/clickhouse/clickhouse-config.js";
import { spawnServer } from "../../../deploy/stores/embedded/server-process.js";
import { superviseServer, untilAnswering } from "../../../deploy/stores/embedded/supervise-server.js";
import { pause } from "../../../schemas/async/pause.js";
import type { LoopDisk } from "../../support/program/loop-disk.js";

/** A ClickHouse server that no program of ours looks after, on a disk of its own whose power is cut. */
export interface PowerlessServer extends AsyncDisposable {
  /** A CLICKHOUSE_URL. */
  readonly url: string;
  /** Waits until it answers. */
  whenRunning(): Promise<void>;
}

const USER = { username: "maintainer", password: "known-to-tests" };
const DATABASE = "shared";
const ANSWER_MS_MAX = 240_000;

/** The engine of the embedded server with ClickHouse's own settings, started again after each power cut by itself. */
export async function startPowerlessServer(disk: LoopDisk): Promise<PowerlessServer> {
  const dir = join(disk.path, "server");
  const failures: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void failures.push(line) });
  let port = 0;
  const start = async () => {
    await disk.restore();
    await mkdir(dir, { recursive: true });
    const usersPath = join(dir, "users.xml");
    await writeFile(usersPath, clickHouseUsers(USER));
    await writeFile(join(dir, "config.xml"), configOf(usersPath));
    if (port === 0) return onFreePort((free) => spawnEngine(dir, (port = free)));
    return spawnEngine(dir, port);
  };
  const supervised = await superviseServer({ name: "ClickHouse", log, start, steadyMs: 0 });
  const url = `http://${USER.username}:${USER.password}@127.0.0.1:${port}/${DATABASE}`;
  return {
    url,
    async whenRunning() {
      for (const deadline = Date.now() + ANSWER_MS_MAX; !(await answers(port)); await pause(50))
        if (Date.now() > deadline) throw new Error(`the server did not come back: ${failures.at(-1)}`);
    },
    async [Symbol.asyncDispose]() {
      await supervised.stop();
      await disk[Symbol.asyncDispose]();
    },
  };
}

function configOf(usersPath: string): string {
  return `<clickhouse><users_config>${usersPath}</users_config><max_server_memory_usage>3000000000</max_server_memory_usage></clickhouse>`;
}

async function spawnEngine(dir: string, port: number) {
  const child = await spawnServer({ ...engineCommand({ dir, port }), onLine: () => undefined });
  const stop = () => child.end([{ signal: "SIGKILL", patienceMs: 5_000 }]);
  try {
    await untilAnswering(child, { name: "ClickHouse", dir, answers: () => answers(port) });
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid, gone: child.gone, stop };
}

async function answers(port: number): Promise<boolean> {
  const url = `http://127.0.0.1:${port}/?user=${USER.username}&password=${USER.password}&query=SELECT+1`;
  const answer = await fetch(url, { headers: { Connection: "close" } }).catch(() => undefined);
  await answer?.text();
  return answer?.ok === true;
}
