import { closeSync, openSync } from "node:fs";
import { callLibc } from "../process/call-libc.js";

/** Writes everything on the disk of a folder down, in one call for thousands of files. Source: syncfs(2). */
export function syncDisk(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    const { value, message } = callLibc("syncfs", ["int", fd]);
    if (value !== 0) throw new Error(`${folder} could not be written to its disk: ${message}`);
  } finally {
    closeSync(fd);
  }
}
