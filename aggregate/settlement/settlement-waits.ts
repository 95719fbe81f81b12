import type { DueImport } from "../../schemas/records/settlement.js";

/**
 * Four times the last settlement of an import that still receives chunks, at least this. Each settlement
 * reads the ids of the whole package, so a few large ones cost much less than many.
 */
const PAUSE_MS_MIN = 30_000;
const PAUSE_FACTOR = 4;
/** This process does not see the end of an import that another process settles. A sender may be idle for two minutes. */
const FORGOTTEN_AFTER_MS = 600_000;

export class ImportPauses {
  private readonly endsAt = new Map<string, number>();

  constructor(private readonly now = () => performance.now()) {}

  get size(): number {
    return this.endsAt.size;
  }

  isPaused(importId: string): boolean {
    const endsAt = this.endsAt.get(importId) ?? this.now() + PAUSE_MS_MIN;
    this.endsAt.set(importId, endsAt);
    return endsAt > this.now();
  }

  startAfterSettlement(importId: string, durationMs: number): void {
    this.endsAt.set(importId, this.now() + Math.max(PAUSE_MS_MIN, durationMs * PAUSE_FACTOR));
  }

  forget(importId: string): void {
    this.endsAt.delete(importId);
  }

  forgetEnded(): void {
    const before = this.now() - FORGOTTEN_AFTER_MS;
    for (const [importId, endsAt] of this.endsAt) if (endsAt <= before) this.endsAt.delete(importId);
  }
}

/** Senders of many small imports see no difference: an import takes several times as long. */
const GATHER_MS_MAX = 200;

/**
 * Owners whose settlement waits for small imports that are about to be written: it costs ClickHouse some 70
 * ms of processor time, for one import as for all of an owner. Those settled together also end together the
 * next time.
 */
export class OwnerGathering {
  private readonly since = new Map<string, number>();

  constructor(private readonly now = () => performance.now()) {}

  /** Whether the due imports of an owner wait for others. Begins and ends the wait, which lasts 200 ms at most. */
  isWaiting(ownerId: string, due: readonly Pick<DueImport, "followed">[]): boolean {
    const now = this.now();
    const since = this.since.get(ownerId) ?? now;
    const waits = due.some(({ followed }) => followed) && now - since < GATHER_MS_MAX;
    if (waits) this.since.set(ownerId, since);
    else this.since.delete(ownerId);
    return waits;
  }
}
