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

/** Atomic, also in a crash, because the data cannot be read without the secret. */
function writeDurably(path: string, text: string): void {
  const fd = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
}

/** Mode 0700. Node's recursive mkdir fails with a misleading ENOENT, or never returns (`/proc/x`). */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
