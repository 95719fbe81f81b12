import { readFileSync } from "node:fs";
import { callLibc } from "../../../process/call-libc.js";

const MADV_DONTNEED = 4;

/**
 * Unmaps the pages of a mapped file from this process (Linux; elsewhere it does nothing). They stay in the
 * system's page cache, so reading one again costs a minor fault. LMDB never does it by itself: without this
 * the resident memory of the process grows with every byte of the log that was ever read.
 */
export function releaseMappedPages(file: string): void {
  if (process.platform !== "linux") return;
  for (const { start, length } of mappingsOf(file))
    callLibc("madvise", ["long", start], ["long", length], ["int", MADV_DONTNEED]);
}

/** Lines of the form `7fde2f800000-7fde4fb00000 r--s 00000000 fe:00 1234    /path/data.mdb`. */
function mappingsOf(file: string): { start: number; length: number }[] {
  return readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .filter((line) => line.endsWith(` ${file}`))
    .map((line) => {
      const [start = 0, end = 0] = line
        .slice(0, line.indexOf(" "))
        .split("-")
        .map((hex) => parseInt(hex, 16));
      return { start, length: end - start };
    });
}
