import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { retry } from "../../schemas/async/retry.js";
import { LOCK_ATTEMPTS, type LockFile, isLocked, takeLockFile } from "./lock-file.js";
import { makeFolders, writeDurably } from "./private-files.js";
import { StartFailure, explainFileError } from "./start-failure.js";

/** The URLs of a running instance, with credentials. */
export interface Endpoints {
  api?: string;
  collect?: string;
  metrics?: string;
  postgres?: string;
  clickhouse?: string;
}

/** The directory of the embedded stores, locked by this process until disposed of. */
export interface DataDir extends AsyncDisposable {
  readonly path: string;
  /** The absolute path of a folder in it, created with mode 0700 when missing. */
  sub(name: string): string;
  /** Replaces `endpoints.json` (mode 0600) atomically. */
  writeEndpoints(endpoints: Endpoints): Promise<void>;
  readEndpoints(): Promise<Endpoints | undefined>;
}

const LOCK = "lock";
const ENDPOINTS = "endpoints.json";

export const RESTORING = "restoring";

/** The file that marks a directory with the version of what is in it. */
export const FORMAT_MARK = "format";

const FORMAT = "1";
const STORES = ["postgres", "clickhouse", "log"];

interface OpenDataDir extends Locking {
  restoring?: boolean;
}

interface Locking {
  /** Whether this process has the directory for a moment only, so that others wait for it. */
  isCommand?: boolean;
  /** Takes a sentence once this process waits for a command that has the directory. */
  onWait?: (sentence: string) => void;
}

/**
 * Creates the directory (mode 0700) and locks it. A killed instance leaves no lock behind. Throws StartFailure when
 * another process holds the lock (a command: for longer than a minute), when the directory is not writable, when a
 * restore of it was interrupted, or when its format is another: then nothing in it changes.
 */
export async function openDataDir(
  path: string,
  { restoring = false, ...locking }: OpenDataDir = {},
): Promise<DataDir> {
  const root = resolve(path);
  const lock = await explaining(root, async () => {
    requireFormat(root);
    makePrivate(root);
    return takeLock(root, locking);
  });
  if (!restoring && existsSync(join(root, RESTORING))) {
    lock.release();
    throw new StartFailure(
      `A restore of DATA_DIR ${root} was interrupted. Empty the folder and run \`admin restore\` again.`,
    );
  }
  if (!restoring && !existsSync(join(root, FORMAT_MARK)))
    writeDurably(join(root, FORMAT_MARK), `${FORMAT}\n`);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await rm(join(root, ENDPOINTS), { force: true });
    lock.release();
  };
  return {
    path: root,
    sub: (name) => makeFolder(join(root, name)),
    writeEndpoints: (endpoints) => writeEndpoints(root, endpoints),
    readEndpoints: () => readEndpoints(root),
    // A start that is broken off may end it twice at once: both wait until the lock is gone.
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

/** The endpoints of the instance that runs on this directory; undefined when none runs or it is still starting. */
export async function readRunningEndpoints(path: string): Promise<Endpoints | undefined> {
  const root = resolve(path);
  return explaining(root, async () => {
    requireFormat(root);
    return isLocked(join(root, LOCK)) ? readEndpoints(root) : undefined;
  });
}

/** The URL of a server that listens on every address of this machine, as a browser on it reaches it. */
export function browsableUrl(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Reads only. Stores without a mark, unless a restore left them so, are older than the mark. */
function requireFormat(root: string): void {
  const has = (name: string) => existsSync(join(root, name));
  if (has(RESTORING)) return;
  if (has(FORMAT_MARK)) {
    if (readFileSync(join(root, FORMAT_MARK), "utf8").trim() === FORMAT) return;
    throw new StartFailure(
      `DATA_DIR ${root} was written by a newer version of this program. Start that version.`,
    );
  }
  if (!STORES.some(has)) return;
  throw new StartFailure(
    `DATA_DIR ${root} is older than the first release and cannot be read. Export its data with the ` +
      "program that wrote it, and import the data into an empty DATA_DIR.",
  );
}

function makePrivate(root: string): void {
  makeFolders(root);
  if ((statSync(root).mode & 0o077) === 0) return;
  const names = readdirSync(root).filter((name) => name !== "lost+found");
  // A home directory or /tmp, given by mistake, must not become inaccessible to others.
  if (names.length > 0 && ![LOCK, FORMAT_MARK, "secret-key"].some((name) => names.includes(name))) {
    throw new StartFailure(
      `DATA_DIR ${root} contains other files and is accessible to other users. Choose an empty directory, or ` +
        "run chmod 700 on it.",
    );
  }
  chmodSync(root, 0o700);
}

/** A command that runs while a service starts must not keep it from starting. */
const COMMAND = "command";
const COMMAND_ATTEMPTS = { attempts: 600, backoff: { firstMs: 100 } };

class HeldLock extends StartFailure {
  constructor(
    root: string,
    readonly heldBy: string,
  ) {
    const holder = heldBy === "" ? "another process" : `process ${heldBy.split(" ", 1)[0]}`;
    super(`DATA_DIR ${root} is in use by ${holder}. Stop it first, or choose another DATA_DIR.`);
  }

  get isCommand(): boolean {
    return this.heldBy.endsWith(COMMAND);
  }
}

async function takeLock(root: string, { isCommand = false, onWait }: Locking): Promise<LockFile> {
  const take = async () => {
    const taken = takeLockFile(join(root, LOCK), { as: isCommand ? COMMAND : "" });
    if ("release" in taken) return taken;
    throw new HeldLock(root, taken.heldBy);
  };
  try {
    return await retry(take, { ...LOCK_ATTEMPTS, isTransient: (error) => error instanceof HeldLock });
  } catch (error) {
    if (!(error instanceof HeldLock && error.isCommand)) throw error;
    onWait?.(`waiting until an admin command (process ${error.heldBy.split(" ", 1)[0]}) ends`);
    const isTransient = (failure: unknown) => failure instanceof HeldLock && failure.isCommand;
    return retry(take, { ...COMMAND_ATTEMPTS, isTransient });
  }
}

function makeFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainFileError(error, path);
  }
  return path;
}

async function writeEndpoints(root: string, endpoints: Endpoints): Promise<void> {
  const path = join(root, ENDPOINTS);
  await explaining(root, async () => {
    const credentials = endpointCredentials({ ...endpoints });
    const written = { ...endpoints, ...(Object.keys(credentials).length > 0 && { credentials }) };
    await writeFile(`${path}.new`, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
    await rename(`${path}.new`, path);
  });
}

async function readEndpoints(root: string): Promise<Endpoints | undefined> {
  try {
    return JSON.parse(await readFile(join(root, ENDPOINTS), "utf8")) as Endpoints;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function explaining<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainFileError(error, path);
  }
}

interface EndpointCredentials {
  /** Without user name and password. */
  url: string;
  username: string;
  password: string;
}

export function endpointCredentials(
  endpoints: Readonly<Record<string, string | undefined>>,
): Record<string, EndpointCredentials> {
  return Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, text]) => {
      const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
      if (url === undefined || (url.username === "" && url.password === "")) return [];
      const { username, password } = url;
      url.username = "";
      url.password = "";
      return [[name, { url: url.href, username: decoded(username), password: decoded(password) }]];
    }),
  );
}

/** A lone `%` is accepted in a URL and stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
