import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder (mode 0700) and those above it that are missing, one by one: where nothing can be made, the recursive
 * mkdir of Node says ENOENT, which explains nothing, or never returns (`/proc/x`).
 */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
