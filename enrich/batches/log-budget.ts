import { LRUCache } from "lru-cache";
import type { LineFault } from "../lines/line-fault.js";
import type { LogBlock } from "../native/log-block.js";

/** The log entries that one worker keeps of one import: three bytes of a body can make one. */
export const LOG_LIMITS = { entriesMax: 1_000_000, bytesMax: 512 * 1024 * 1024 };
const IMPORTS_MAX = 1_000;

/**
 * Bounds the kept log of an import. Each worker counts by itself and forgets at its end, so an import with several
 * workers may keep more.
 */
export class LogBudget {
  private readonly used = new LRUCache<string, { entries: number; bytes: number }>({ max: IMPORTS_MAX });

  constructor(private readonly limits = LOG_LIMITS) {}

  /** Whether one more entry of the import is kept. */
  take(importId: string, bytes: number): boolean {
    const used = this.used.get(importId) ?? this.begin(importId);
    if (used.entries >= this.limits.entriesMax || used.bytes >= this.limits.bytesMax) return false;
    used.entries += 1;
    used.bytes += bytes;
    return true;
  }

  private begin(importId: string): { entries: number; bytes: number } {
    const none = { entries: 0, bytes: 0 };
    this.used.set(importId, none);
    return none;
  }
}

/** Counts the entries of a chunk that are not kept, by class and type. */
export class EntriesNotKept {
  private readonly counts = new Map<string, number>();

  add({ class: faultClass, type }: LineFault): void {
    const key = `${faultClass} ${type}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  /** One row for each class and type, which `import-log.sql` and `import-faults.sql` read: the count is its text. */
  log(logs: LogBlock, chunk: { importId: string; line: number; loggedAt: number }): void {
    for (const [message, count] of this.counts) {
      const fault = { class: "info", type: "entries-not-kept", message } as const;
      logs.add({ ...chunk, fault, bytes: Buffer.from(String(count)) });
    }
  }
}
