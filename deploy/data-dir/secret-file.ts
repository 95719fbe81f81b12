import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { explainFileError } from "../process/start-failure.js";

/** The text of a secret kept in a file (mode 0600), made by `make` when the file is absent. */
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

/** Whole or not at all, also after a crash: a lost or half secret would lock the owner out of the data. */
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
