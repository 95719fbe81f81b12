import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents (mode 0700), one by one. Node's recursive mkdir fails with a misleading
 * ENOENT when it may not create a folder, or never returns (`/proc/x`).
 */
export function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
