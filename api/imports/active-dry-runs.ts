import { Problem } from "../../schemas/problem.js";
import { tooManyActiveImports } from "./imports.js";
import { ACTIVE_IMPORTS_MAX } from "./start-imports.js";

/** The dry runs that this process reads at once, of all owners: each holds a chunk and a decompressor. */
const DRY_RUNS_MAX = 100;
const RETRY_AFTER_SECONDS = 10;

/**
 * The dry runs of this process. A dry run costs as much as an import, so the same limit per owner applies, and per
 * account: one account may have any number of organizations.
 */
export class ActiveDryRuns {
  private readonly countByKey = new Map<string, number>();

  private count = 0;

  /** @throws Problem too-many-active-imports for this owner or account, `unavailable` for all */
  open({ ownerId, accountId }: { ownerId: string; accountId: string }): Disposable {
    const keys = [`owner ${ownerId}`, `account ${accountId}`];
    if (keys.some((key) => this.countOf(key) >= ACTIVE_IMPORTS_MAX)) throw tooManyActiveImports();
    if (this.count >= DRY_RUNS_MAX)
      throw new Problem("unavailable", "Too many dry runs are under way; try again later.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    this.count++;
    for (const key of keys) this.countByKey.set(key, this.countOf(key) + 1);
    return { [Symbol.dispose]: () => this.close(keys) };
  }

  private countOf(key: string): number {
    return this.countByKey.get(key) ?? 0;
  }

  private close(keys: readonly string[]): void {
    this.count--;
    for (const key of keys) {
      if (this.countOf(key) > 1) this.countByKey.set(key, this.countOf(key) - 1);
      else this.countByKey.delete(key);
    }
  }
}
