import { type Hash, createHash } from "node:crypto";
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/**
 * Copies a folder or file into the backup, under the same name, and answers all that it copied. Without `to`,
 * only lists it.
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

interface Copied {
  size: number;
  sha256: string;
}

/** Most files of ClickHouse are tiny: these are read whole, without a stream. */
const WHOLE_BYTES_MAX = 2 ** 20;

/** Copies a file (mode 0600) and hashes its bytes on the way. Fails when the target exists. */
export async function copyHashed(
  from: string,
  to: string,
  { size: expected }: { size: number },
): Promise<Copied> {
  const hash = createHash("sha256");
  if (expected > WHOLE_BYTES_MAX) return copyStreamed(from, to, hash);
  const bytes = await readFile(from);
  await writeFile(to, bytes, { mode: 0o600, flag: "wx" });
  return { size: bytes.length, sha256: hash.update(bytes).digest("hex") };
}

async function copyStreamed(from: string, to: string, hash: Hash): Promise<Copied> {
  let size = 0;
  await pipeline(
    createReadStream(from, { highWaterMark: 2 ** 20 }),
    async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        hash.update(part);
        size += part.length;
        yield part;
      }
    },
    createWriteStream(to, { mode: 0o600, flags: "wx" }),
  );
  return { size, sha256: hash.digest("hex") };
}

async function hashFile(path: string): Promise<Copied> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const part of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    hash.update(part);
    size += part.length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** A file, folder or symbolic link of a backup. Its path is below the backup and below DATA_DIR. */
export type BackupEntry =
  | { path: string; kind: "folder"; mode: number; mtimeMs: number }
  | { path: string; kind: "file"; mode: number; mtimeMs: number; size: number; sha256: string }
  | { path: string; kind: "link"; target: string };
