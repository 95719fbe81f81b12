import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join, normalize, resolve } from "node:path";
import { FORMAT_MARK, RESTORING, openDataDir } from "../process/data-dir.js";
import { StartFailure } from "../process/start-failure.js";
import { choosePostgresAccount, findPostgresProgram } from "../stores/embedded/postgres/postgres-program.js";
import { type BackupEntry, copyHashed } from "./copy-folder.js";
import { type BackupManifest, readManifest } from "./backup-manifest.js";
import { syncDisk } from "../process/libc.js";

/**
 * Restores into an empty data directory, on which no service runs. Everything is checked first: a directory
 * on which this was interrupted does not start. Throws StartFailure.
 */
export async function restoreBackup({
  from,
  dataDir,
}: {
  from: string;
  dataDir: string;
}): Promise<BackupManifest> {
  const backup = resolve(from);
  const { manifest, entries } = await readManifest(backup);
  await using open = await openDataDir(dataDir, { restoring: true });
  requireEmpty(open.path);
  const place = join(open.path, RESTORING);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { mode: 0o700 });
  for (const entry of entries) await restoreEntry(entry, { backup, place });
  // From the innermost folder outwards: a folder's time changes with what is put into it.
  for (const entry of entries.toReversed()) keepTime(entry, place);
  await giveToPostgres(entries, place);
  syncDisk(place);
  for (const name of readdirSync(place)) renameSync(join(place, name), join(open.path, name));
  syncDisk(open.path);
  rmSync(place, { recursive: true });
  return manifest;
}

/** A lock is there while the directory is open, and `lost+found` where it is a disk of its own. The backup has a mark too. */
const MAY_BE_THERE = new Set(["lock", "lost+found", FORMAT_MARK, RESTORING]);

function requireEmpty(dataDir: string): void {
  const [found] = readdirSync(dataDir).filter((name) => !MAY_BE_THERE.has(name));
  if (found === undefined) return;
  throw new StartFailure(
    `DATA_DIR ${dataDir} is not empty (it contains ${found}). Move the old folder away and restore into an empty one.`,
  );
}

async function restoreEntry(
  entry: BackupEntry,
  { backup, place }: { backup: string; place: string },
): Promise<void> {
  const { path } = entry;
  if (normalize(path) !== path || path.startsWith("/") || path.startsWith(".."))
    throw new StartFailure(`The backup is damaged: ${backup} lists ${path}, which is outside the backup.`);
  const target = join(place, path);
  if (entry.kind === "folder") mkdirSync(target, { mode: 0o700 });
  else if (entry.kind === "link") symlinkSync(entry.target, target);
  else if (!(await isCopiedWhole(entry, { from: join(backup, path), to: target })))
    throw new StartFailure(`The backup is damaged: ${join(backup, path)} has changed since it was written.`);
}

async function isCopiedWhole(
  entry: BackupEntry & { kind: "file" },
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  try {
    const { size, sha256 } = await copyHashed(from, to, entry);
    return size === entry.size && sha256 === entry.sha256;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function keepTime(entry: BackupEntry, place: string): void {
  if (entry.kind === "link") return;
  chmodSync(join(place, entry.path), entry.mode);
  utimesSync(join(place, entry.path), entry.mtimeMs / 1000, entry.mtimeMs / 1000);
}

/** Root starts PostgreSQL as another user, who must own its files. */
async function giveToPostgres(entries: readonly BackupEntry[], place: string): Promise<void> {
  const data = join("postgres", "data");
  const { postgres } = await findPostgresProgram();
  const { ids } = choosePostgresAccount(join(place, data), [postgres]);
  if (ids === undefined) return;
  for (const { path } of entries)
    if (`${path}/`.startsWith(`${data}/`)) lchownSync(join(place, path), ids.uid, ids.gid);
}
