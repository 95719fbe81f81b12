import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { StartFailure } from "../../../process/start-failure.js";

/** The operating system's account that PostgreSQL runs as, and how a command becomes that account. */
export interface PostgresAccount {
  /** Undefined: the account of this process. */
  ids: { uid: number; gid: number } | undefined;
  /** What comes before a command so that it runs as that account. */
  prefix: readonly string[];
  /** Set when Node is to change the account, because the prefix does not. */
  spawnIds: { uid?: number; gid?: number };
}

const WAYS_OUT = "run this as an ordinary user, or set DATABASE_URL to a PostgreSQL server";

/**
 * PostgreSQL refuses to run as root, so root starts it as the owner of its data, or else as the system's user `postgres`,
 * which is made when absent.
 */
export function choosePostgresAccount(dataDir: string, paths: readonly string[]): PostgresAccount {
  if (process.getuid?.() !== 0) return { ids: undefined, prefix: [], spawnIds: {} };
  const ids = ownerOf(dataDir) ?? findUser("postgres") ?? makeUser("postgres");
  const prefix = setprivPrefix(ids);
  if (succeeds([...prefix, "true"])) return { ids, prefix, spawnIds: {} };
  const reachable = paths.every((path) => succeeds(["test", "-r", path], ids));
  if (reachable) return { ids, prefix: [], spawnIds: ids };
  throw new StartFailure(
    `PostgreSQL does not run as root, and uid ${ids.uid} cannot reach ${paths.join(" and ")}: install setpriv (util-linux), or ${WAYS_OUT}.`,
  );
}

/**
 * The data directory is closed to everybody but root, and may lie below folders that are: one capability lets the server
 * pass, nothing else of root stays with it. Without `no_setuid_fixup` the kernel would ignore it in access(2), with which
 * PostgreSQL looks at its own programs.
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
  const there = statSync(dataDir, { throwIfNoEntry: false });
  return there === undefined || there.uid === 0 ? undefined : { uid: there.uid, gid: there.gid };
}

function findUser(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${name}:`));
  if (line === undefined) return undefined;
  const [, , uid, gid] = line.split(":").map(Number);
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

function makeUser(name: string): { uid: number; gid: number } {
  try {
    execFileSync("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/bin/false", name]);
  } catch (cause) {
    throw new StartFailure(
      `PostgreSQL does not run as root, and a system user ${name} could not be made: make one, or ${WAYS_OUT}.`,
      { cause },
    );
  }
  const made = findUser(name);
  if (made === undefined) throw new Error(`useradd made no user ${name} in /etc/passwd`);
  return made;
}

function succeeds(
  [command = "", ...args]: readonly string[],
  ids: { uid?: number; gid?: number } = {},
): boolean {
  return spawnSync(command, args, { ...ids, stdio: "ignore" }).status === 0;
}
