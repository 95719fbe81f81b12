import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readMigrations as clickhouseMigrations } from "../../aggregate/clickhouse/read-migrations.js";
import { readMigrations as postgresMigrations } from "../../api/base/postgres/migrate-postgres.js";
import { assetUrl } from "../../schemas/asset.js";
import { FORMAT_MARK } from "../process/data-dir.js";
import { StartFailure } from "../process/start-failure.js";
import type { BackupEntry } from "./copy-folder.js";

/** `backup.json`, which is written last: a backup without it is not complete. */
export interface BackupManifest {
  /** The version of the folder's form. */
  format: number;
  version: string;
  /** The moment that the backup holds. */
  takenAt: string;
  files: number;
  bytes: number;
  /** The checksum of `contents.ndjson`, which lists every file with its own. */
  contentsSha256: string;
  /** All that the program knew: one that does not know them is older. */
  migrations: string[];
}

const FORMAT = 1;
const MANIFEST = "backup.json";
const CONTENTS = "contents.ndjson";

export async function writeManifest(
  dir: string,
  { entries, takenAt }: { entries: readonly BackupEntry[]; takenAt: string },
): Promise<BackupManifest> {
  const contents = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  const files = entries.flatMap((entry) => (entry.kind === "file" ? [entry.size] : []));
  const manifest: BackupManifest = {
    format: FORMAT,
    version: programVersion(),
    takenAt,
    files: files.length,
    bytes: files.reduce((sum, size) => sum + size, 0),
    contentsSha256: sha256(contents),
    migrations: await knownMigrations(),
  };
  writeFileSync(join(dir, CONTENTS), contents, { mode: 0o600, flush: true });
  writeFileSync(join(dir, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  return manifest;
}

/** Throws StartFailure when the folder is no backup, is not complete or damaged, or is of a newer program. */
export async function readManifest(
  dir: string,
): Promise<{ manifest: BackupManifest; entries: BackupEntry[] }> {
  const manifest = parseManifest(dir, read(dir, MANIFEST));
  if (manifest.format > FORMAT) throw newer(dir, manifest);
  const contents = read(dir, CONTENTS);
  if (sha256(contents) !== manifest.contentsSha256) throw damaged(dir, CONTENTS);
  const entries = contents
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as BackupEntry);
  if (!entries.some(({ path }) => path === FORMAT_MARK))
    throw new StartFailure(
      `${dir} was created by a version before the first release. Restore it with that version.`,
    );
  const known = new Set(await knownMigrations());
  if (manifest.migrations.some((name) => !known.has(name))) throw newer(dir, manifest);
  return { manifest, entries };
}

function parseManifest(dir: string, text: string): BackupManifest {
  try {
    return JSON.parse(text) as BackupManifest;
  } catch {
    throw damaged(dir, MANIFEST);
  }
}

function damaged(dir: string, name: string): StartFailure {
  return new StartFailure(`The backup is damaged: ${join(dir, name)} has changed since it was written.`);
}

function newer(dir: string, { version }: BackupManifest): StartFailure {
  return new StartFailure(
    `${dir} was created by a newer version (${version}). Restore it with that version or a later one.`,
  );
}

function read(dir: string, name: string): string {
  try {
    return readFileSync(join(dir, name), "utf8");
  } catch (cause) {
    throw new StartFailure(
      `${dir} is not a complete backup: ${name} is missing. The backup was probably interrupted.`,
      { cause },
    );
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function programVersion(): string {
  const { version } = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
  return version;
}

async function knownMigrations(): Promise<string[]> {
  return (await Promise.all([postgresMigrations(), clickhouseMigrations()])).flat().map(({ name }) => name);
}
