import {
  type BigIntStats,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

interface SnapshotOptions {
  from: string;
  /** On the same disk. */
  to: string;
  isLeftOut: (path: string) => boolean;
  /** Whether the files of a folder never change once it has this path. They are linked instead of copied. */
  isImmutable: (path: string) => boolean;
}

/** A copy of a folder that is made in several takes. */
interface FolderSnapshot {
  /** Makes the copy like the folder. Copies only what changed since the take before. */
  readonly take: () => void;
}

/**
 * A first take, while the folder is in use, makes the second one short. Leaves out files that vanish during a
 * take.
 */
export function openSnapshot({ from, to, isLeftOut, isImmutable }: SnapshotOptions): FolderSnapshot {
  const copied = new Map<string, Version>();
  const linked = new Set<string>();

  function takeFolder(path: string): void {
    const entries = readdirSync(join(from, path), { withFileTypes: true })
      .map((entry) => ({ entry, path: join(path, entry.name) }))
      .filter((one) => !isLeftOut(one.path));
    mkdirSync(join(to, path), { recursive: true, mode: 0o700 });
    const kept = new Set(entries.map(({ entry }) => entry.name));
    for (const name of readdirSync(join(to, path)))
      if (!kept.has(name)) rmSync(join(to, path, name), { recursive: true });
    for (const { entry, path } of entries)
      ifThere(() => {
        if (entry.isSymbolicLink()) takeLink(path);
        else if (!entry.isDirectory()) takeFile(path);
        else if (isImmutable(path)) linkFolder(path);
        else takeFolder(path);
      });
  }

  function takeLink(path: string): void {
    rmSync(join(to, path), { force: true });
    symlinkSync(readlinkSync(join(from, path)), join(to, path));
  }

  function takeFile(path: string): void {
    const at = Date.now();
    const stats = lstatSync(join(from, path), { bigint: true });
    if (isUnchanged(stats, copied.get(path))) return;
    copied.delete(path);
    copyFileSync(join(from, path), join(to, path), constants.COPYFILE_FICLONE);
    keepTime(path, stats);
    copied.set(path, { size: stats.size, mtimeNs: stats.mtimeNs, at });
  }

  function linkFolder(path: string): void {
    if (linked.has(path)) return;
    rmSync(join(to, path), { recursive: true, force: true });
    linkAll(path);
    linked.add(path);
  }

  function linkAll(path: string): void {
    mkdirSync(join(to, path), { mode: 0o700 });
    for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) linkAll(below);
      else linkSync(join(from, below), join(to, below));
    }
    keepTime(path, lstatSync(join(from, path), { bigint: true }));
  }

  /** ClickHouse compares the times of its parts and logs after a crash. */
  function keepTime(path: string, { mtimeNs }: BigIntStats): void {
    const seconds = Number(mtimeNs) / 1e9;
    utimesSync(join(to, path), seconds, seconds);
  }

  return { take: () => takeFolder("") };
}

interface Version {
  size: bigint;
  mtimeNs: bigint;
  at: number;
}

/** Times of files move in steps: a file that had just been written may have been written again within the same step. */
const TIME_STEP_MS = 1_000;

function isUnchanged({ size, mtimeNs }: BigIntStats, version: Version | undefined): boolean {
  if (version === undefined || version.size !== size || version.mtimeNs !== mtimeNs) return false;
  return Number(mtimeNs / 1_000_000n) < version.at - TIME_STEP_MS;
}

function ifThere(work: () => void): void {
  try {
    work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

interface Place {
  dataDir: string;
  /** On the same disk as the data directory. */
  place: string;
}

/** PostgreSQL writes into its files, so they are copied. */
export function postgresSnapshot({ dataDir, place }: Place): FolderSnapshot {
  const leftOut = new Set(["lib", "data.new", "initdb-password", join("data", "postmaster.pid")]);
  return openSnapshot({
    from: join(dataDir, "postgres"),
    to: join(place, "postgres"),
    isLeftOut: (path) => leftOut.has(path) || dirname(path) === join("data", "pg_stat_tmp"),
    isImmutable: () => false,
  });
}

/** `<partition>_<first block>_<last block>_<level>`, and after a mutation `_<version>`. */
const PART = /^[^_]+_\d+_\d+_\d+(?:_\d+)?$/;
const UNFINISHED = /^(tmp|delete_tmp)_/;

/** A part of ClickHouse has its name once it is complete, and is never written again. */
export function clickHouseSnapshot({ dataDir, place }: Place): FolderSnapshot {
  return openSnapshot({
    from: join(dataDir, "clickhouse"),
    to: join(place, "clickhouse"),
    isLeftOut: (path) => UNFINISHED.test(basename(path)) || dirname(path) === join("data", "tmp"),
    isImmutable: (path) => PART.test(basename(path)) && path.startsWith(join("data", "store")),
  });
}
