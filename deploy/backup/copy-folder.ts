import { chmodSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { BackupEntry } from "./backup-entry.js";
import { copyHashed } from "./copy-hashed.js";
import { hashFile } from "./hash-file.js";

/**
 * Copies a folder or a file of `from` into the backup, under the same name, and answers everything that it copied.
 * Without `to`, it only lists what is there.
 */
export async function copyFolder(
  name: string,
  { from, to }: { from: string; to: string | undefined },
): Promise<BackupEntry[]> {
  const entries: BackupEntry[] = [];
  await copy(name);
  return entries;

  async function copy(path: string): Promise<void> {
    const source = join(from, path);
    const target = to && join(to, path);
    const stats = lstatSync(source);
    const facts: Facts = { mode: stats.mode & 0o777, mtimeMs: stats.mtimeMs };
    if (stats.isSymbolicLink()) {
      const link = readlinkSync(source);
      if (target !== undefined) symlinkSync(link, target);
      entries.push({ path, kind: "link", target: link });
      return;
    }
    if (stats.isDirectory()) {
      if (target !== undefined) mkdirSync(target, { mode: 0o700 });
      entries.push({ path, kind: "folder", ...facts });
      for (const child of readdirSync(source).sort()) await copy(join(path, child));
    } else {
      const file = target === undefined ? await hashFile(source) : await copyHashed(source, target, stats);
      entries.push({ path, kind: "file", ...facts, ...file });
    }
    if (target !== undefined) keepFacts(target, facts);
  }
}

interface Facts {
  mode: number;
  mtimeMs: number;
}

function keepFacts(path: string, { mode, mtimeMs }: Facts): void {
  chmodSync(path, mode);
  utimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
}
