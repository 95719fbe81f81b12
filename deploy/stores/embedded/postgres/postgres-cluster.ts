import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSecretFile } from "../../../process/private-files.js";
import { explainFileError, storeFailure } from "../../../process/start-failure.js";
import {
  type PostgresAccount,
  type PostgresProgram,
  choosePostgresAccount,
  findPostgresProgram,
  makeLibraryPath,
} from "./postgres-program.js";
import { type ServerProcess, spawnServer, withParentPipe } from "../server-process.js";

/** An initialised database cluster on disk, and the means to start its server. */
export interface PostgresCluster {
  dir: string;
  password: string;
  superuserPassword: string;
  spawn(port: number, onLine: (line: string) => void): Promise<ServerProcess>;
  /**
   * PostgreSQL respects it when another process has got the same pid, which is likely in a container. Only on
   * Linux, where endOrphans makes sure that no server uses the folder.
   */
  removeStaleLock(): void;
}

interface Parts {
  dir: string;
  data: string;
  account: PostgresAccount;
  program: PostgresProgram;
  libraryPath: string;
}

export const SUPERUSER = "postgres";

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "64MB",
  max_connections: "100",
  max_wal_size: "256MB",
  // Management data is small. Parallel queries would only take shared memory, which containers limit.
  max_parallel_workers_per_gather: "0",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  log_checkpoints: "off",
};

/** Opens the cluster in `dir`, and creates it when missing. Throws StartFailure when that fails. */
export async function openPostgresCluster(dir: string): Promise<PostgresCluster> {
  const program = await findPostgresProgram();
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const superuserPassword = loadPassword(dir, "superuser-password");
    const password = loadPassword(dir, "password");
    const libraryPath = makeLibraryPath(join(dir, "lib"), program);
    const data = join(dir, "data");
    const account = choosePostgresAccount(data, [program.postgres, dir]);
    const parts: Parts = { dir, data, account, program, libraryPath };
    if (!existsSync(data)) await initCluster(parts, superuserPassword);
    return {
      dir,
      password,
      superuserPassword,
      spawn: (port, onLine) => spawnPostgres(parts, port, onLine),
      removeStaleLock() {
        if (process.platform === "linux") rmSync(join(data, "postmaster.pid"), { force: true });
      },
    };
  } catch (error) {
    throw explainFileError(error, dir);
  }
}

function loadPassword(dir: string, name: string): string {
  return loadSecretFile(join(dir, name), () => randomBytes(24).toString("base64url"));
}

/** Initialises the cluster in a temporary folder and renames it, so that a crash leaves no incomplete cluster. */
async function initCluster(parts: Parts, superuserPassword: string): Promise<void> {
  const { dir, data, program } = parts;
  const fresh = join(dir, "data.new");
  const passwordFile = join(dir, "initdb-password");
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, `${superuserPassword}\n`, { mode: 0o600 });
  try {
    for (const path of [fresh, passwordFile]) giveTo(parts.account, path);
    const args = [
      `--pgdata=${fresh}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
    ];
    const init = await spawnAs(parts, [program.initdb, ...args], () => undefined);
    const end = await init.gone;
    if (end !== "exit status 0")
      throw storeFailure(`PostgreSQL's initdb failed on ${dir} (${end})`, { dir, tail: init.tail() });
    renameSync(fresh, data);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

function giveTo({ ids }: PostgresAccount, path: string): void {
  if (ids !== undefined) chownSync(path, ids.uid, ids.gid);
}

function spawnPostgres(parts: Parts, port: number, onLine: (line: string) => void): Promise<ServerProcess> {
  const settings = Object.entries({ ...SETTINGS, port }).map(([name, value]) => `--${name}=${value}`);
  return spawnAs(parts, [parts.program.postgres, "-D", parts.data, ...settings], onLine);
}

function spawnAs(
  { dir, account, libraryPath }: Parts,
  command: readonly string[],
  onLine: (line: string) => void,
): Promise<ServerProcess> {
  const [first = "", ...args] = [
    ...account.prefix,
    "sh",
    "-c",
    withParentPipe({ stop: "INT", kill: "QUIT" }),
    "postgres-parent-pipe",
    ...command,
  ];
  return spawnServer({
    command: first,
    args,
    cwd: dir,
    env: { PATH: process.env["PATH"], LD_LIBRARY_PATH: libraryPath, LC_ALL: "C", TZ: "UTC" },
    ...account.spawnIds,
    onLine,
  });
}
