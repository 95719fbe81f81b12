import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeManifest } from "../../../../deploy/backup/backup-manifest.js";
import { copyFolder } from "../../../../deploy/backup/copy-folder.js";
import { restoreBackup } from "../../../../deploy/backup/restore-backup.js";
import { openDataDir } from "../../../../deploy/process/data-dir.js";

let parent: string;
let from: string;
let dataDir: string;

beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), "restore-"));
  [from, dataDir] = [join(parent, "backup"), join(parent, "data")];
  const original = join(parent, "original");
  for (const folder of [from, join(original, "postgres/data/empty"), join(original, "log")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(original, "postgres/data/PG_VERSION"), "18\n");
  writeFileSync(join(original, "format"), "1\n");
  writeFileSync(join(original, "log/data.mdb"), Buffer.alloc(2_000_000, 7));
  const entries = await Promise.all(
    ["postgres", "log", "format"].map((name) => copyFolder(name, { from: original, to: from })),
  );
  await writeManifest(from, { entries: entries.flat(), takenAt: "2026-11-21T00:00:00.000Z" });
});

afterEach(() => rmSync(parent, { recursive: true }));

const list = (dir: string) => readdirSync(dir, { recursive: true }).sort();

test("puts every file and empty folder back, and nothing else", async () => {
  const { files, bytes } = await restoreBackup({ from, dataDir });
  expect({ files, bytes }).toEqual({ files: 3, bytes: 2_000_005 });
  expect(list(dataDir)).toEqual(list(join(parent, "original")));
  expect(readFileSync(join(dataDir, "log/data.mdb")).equals(Buffer.alloc(2_000_000, 7))).toBe(true);
});

test("needs a data directory without data, and leaves it as it was", async () => {
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, "secret-key"), "mine");
  await expect(restoreBackup({ from, dataDir })).rejects.toThrow("is not empty (it contains secret-key)");
  expect(list(dataDir)).toEqual(["secret-key"]);
});

test.each<[string, () => void, string]>([
  ["interrupted", () => rmSync(join(from, "backup.json")), "not a complete backup: backup.json is missing"],
  [
    "with another byte",
    () => writeFileSync(join(from, "log/data.mdb"), Buffer.alloc(2_000_000, 8)),
    "damaged",
  ],
  ["with a longer file", () => appendFileSync(join(from, "postgres/data/PG_VERSION"), "\n"), "damaged"],
  ["without a file", () => rmSync(join(from, "postgres/data/PG_VERSION")), "damaged"],
  ["with another list of files", () => appendFileSync(join(from, "contents.ndjson"), "{}\n"), "damaged"],
  ["newer", () => changeManifest({ migrations: ["999-later.sql"] }), "by a newer version"],
  ["without a readable manifest", () => writeFileSync(join(from, "backup.json"), "{"), "damaged"],
  ["of a later form", () => changeManifest({ format: 2 }), "by a newer version"],
])("a backup that is %s is refused, and nothing of it is in its place", async (_, change, sentence) => {
  change();
  await expect(restoreBackup({ from, dataDir })).rejects.toThrow(sentence);
  expect(["postgres", "log"].some((name) => existsSync(join(dataDir, name)))).toBe(false);
});

function changeManifest(change: Record<string, unknown>): void {
  const path = join(from, "backup.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...manifest, ...change }));
}

test("no service starts after an interrupted restore, which can be repeated", async () => {
  const version = join(from, "postgres/data/PG_VERSION");
  writeFileSync(version, "19\n");
  await expect(restoreBackup({ from, dataDir })).rejects.toThrow("damaged");
  await expect(openDataDir(dataDir)).rejects.toThrow(/A restore of DATA_DIR .* was interrupted/);
  writeFileSync(version, "18\n");
  await restoreBackup({ from, dataDir });
  await using opened = await openDataDir(dataDir);
  expect(opened.path).toBe(dataDir);
});
