import type { DueImport } from "../../schemas/records/settlement.js";

/** Senders of many small imports see no difference: an import takes several times as long. */
const GATHER_MS_MAX = 200;

/**
 * Owners whose settlement waits for small imports that are about to be written. A settlement costs ClickHouse some 70 ms
 * of processor time, for one import as for all that an owner may have at a time. Those that end together are also sent,
 * written and settled together the next time.
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
