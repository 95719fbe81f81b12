import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { explainFileError } from "./start-failure.js";

/** Reads a secret from a file (mode 0600), which is created with the result of `make` when missing. */
export function loadSecretFile(path: string, make: () => string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw explainFileError(error, path);
  }
  const secret = make();
  try {
    writeDurably(path, `${secret}\n`);
  } catch (error) {
    throw explainFileError(error, path);
  }
  return secret;
}

/**
 * Replaces a file (mode 0600) atomically: after a power cut it has the old text or the new one, and the new one once this
 * has returned.
 */
export function writeDurably(path: string, text: string): void {
  const fd = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

/** The name of a new file is kept in its folder, which is synced by itself. */
function syncFolder(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Mode 0700. Node's recursive mkdir fails with a misleading ENOENT, or never returns (`/proc/x`). */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
