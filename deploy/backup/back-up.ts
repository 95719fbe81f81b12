import { numbered } from "../../schemas/records/numbered.js";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatSize } from "../../schemas/records/format-size.js";
import { FORMAT_MARK, openDataDir, readRunningEndpoints } from "../process/data-dir.js";
import { makeFolders } from "../process/private-files.js";
import { StartFailure, explainFileError } from "../process/start-failure.js";
import { type BackupEntry, copyFolder } from "./copy-folder.js";
import { type BackupManifest, writeManifest } from "./backup-manifest.js";
import { freezeServers } from "./freeze-servers.js";
import { type LogSnapshot, openLogSnapshot } from "./log-snapshot.js";
import { takeSnapshotPlace } from "./snapshot-place.js";
import { clickHouseSnapshot, postgresSnapshot } from "./snapshot-folder.js";
import { syncDisk } from "../process/libc.js";

export interface BackupOptions {
  dataDir: string;
  /** Missing or empty. */
  to: string;
  report: (line: string) => void;
}

const STORES = ["postgres", "clickhouse", "log"] as const;

/**
 * Backs up an embedded installation at one moment, while the service runs or not. The log is taken last: it
 * may be milliseconds newer than the stores, never older, because a step of the log follows a finished step
 * of the stores. Throws StartFailure.
 */
export async function backUp(options: BackupOptions): Promise<BackupManifest> {
  const dataDir = resolve(options.dataDir);
  const to = resolve(options.to);
  requireData(dataDir);
  requireApart(dataDir, to);
  const isRunning = (await readRunningEndpoints(dataDir)) !== undefined;
  // Without a service, no other may start on the directory meanwhile.
  await using _alone = isRunning ? undefined : await openDataDir(dataDir);
  makeEmpty(to);
  using snapshot = takeSnapshotPlace(dataDir);
  await using log = openLogSnapshot(join(dataDir, "log"));
  const takenAt = await takeMoment({ ...options, dataDir, place: snapshot.path, log, isRunning });
  const entries = await copyAway({ ...options, to, dataDir, place: snapshot.path, log });
  syncDisk(to);
  const manifest = await writeManifest(to, { entries, takenAt });
  syncDisk(to);
  return manifest;
}

interface Moment extends BackupOptions {
  place: string;
  log: LogSnapshot;
  isRunning: boolean;
}

/** Answers the moment, as an ISO time. */
async function takeMoment({ dataDir, place, log, isRunning, report }: Moment): Promise<string> {
  const stores = [clickHouseSnapshot({ dataDir, place }), postgresSnapshot({ dataDir, place })];
  report(`Backing up ${dataDir} (${isRunning ? "service is running" : "service is not running"}).`);
  // Twice, so that the second take, for which the stores stand still, is short.
  for (const store of stores) store.take();
  const servers = isRunning ? await freezeServers(dataDir) : undefined;
  const begun = performance.now();
  const takenAt = new Date().toISOString();
  try {
    for (const store of stores) store.take();
    log.pin();
  } finally {
    await servers?.thaw();
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  if (isRunning) report(`PostgreSQL and ClickHouse were paused for ${seconds} s.`);
  return takenAt;
}

type CopyAway = Omit<Moment, "isRunning">;

async function copyAway({ dataDir, place, to, log, report }: CopyAway): Promise<BackupEntry[]> {
  // First, because the event log grows for as long as its moment is held.
  await log.copyTo(join(to, "log"));
  await log[Symbol.asyncDispose]();
  const folders = [
    { name: "log", folders: { from: to, to: undefined } },
    { name: "postgres", folders: { from: place, to } },
    { name: "clickhouse", folders: { from: place, to } },
    ...[FORMAT_MARK, "secret-key"]
      .filter((name) => existsSync(join(dataDir, name)))
      .map((name) => ({ name, folders: { from: dataDir, to } })),
  ];
  const entries: BackupEntry[] = [];
  for (const { name, folders: between } of folders) {
    const copied = await copyFolder(name, between);
    const files = copied.flatMap((entry) => (entry.kind === "file" ? [entry.size] : []));
    report(
      `${name}: ${formatSize(files.reduce((sum, size) => sum + size, 0))}, ${numbered(files.length, "file")}`,
    );
    entries.push(...copied);
  }
  return entries;
}

function requireData(dataDir: string): void {
  const missing = STORES.filter((name) => !existsSync(join(dataDir, name)));
  if (missing.length === 0) return;
  throw new StartFailure(
    `DATA_DIR ${dataDir} does not contain embedded stores: folder ${missing.join(", ")} is missing.`,
  );
}

function requireApart(dataDir: string, to: string): void {
  const isWithin = (inner: string, outer: string) => `${inner}/`.startsWith(`${outer}/`);
  if (!isWithin(to, dataDir) && !isWithin(dataDir, to)) return;
  throw new StartFailure(
    `The backup cannot be written to ${to}. Choose a folder outside DATA_DIR ${dataDir}.`,
  );
}

function makeEmpty(to: string): void {
  try {
    makeFolders(to);
    if (readdirSync(to).length > 0)
      throw new StartFailure(`${to} is not empty. Each backup needs its own folder.`);
    chmodSync(to, 0o700);
  } catch (error) {
    throw explainFileError(error, to);
  }
}
