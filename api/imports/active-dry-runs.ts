import { Problem } from "../../schemas/problem.js";
import { tooManyActiveImports } from "../stores/imports/imports.js";
import { ACTIVE_IMPORTS_MAX } from "../stores/imports/start-imports.js";

/** The dry runs that this process reads at once, of all owners: each holds a chunk and a decompressor. */
const DRY_RUNS_MAX = 100;
const RETRY_AFTER_SECONDS = 10;

/** The dry runs of this process. A dry run costs as much as an import, so the same limit per owner applies. */
export class ActiveDryRuns {
  private readonly countByOwner = new Map<string, number>();

  private count = 0;

  /** @throws Problem too-many-active-imports for this owner, `unavailable` for all */
  open(ownerId: string): Disposable {
    const count = this.countByOwner.get(ownerId) ?? 0;
    if (count >= ACTIVE_IMPORTS_MAX) throw tooManyActiveImports();
    if (this.count >= DRY_RUNS_MAX)
      throw new Problem("unavailable", "Too many dry runs are under way; try again later.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    this.count++;
    this.countByOwner.set(ownerId, count + 1);
    return { [Symbol.dispose]: () => this.close(ownerId) };
  }

  private close(ownerId: string): void {
    this.count--;
    const count = this.countByOwner.get(ownerId) ?? 0;
    if (count > 1) this.countByOwner.set(ownerId, count - 1);
    else this.countByOwner.delete(ownerId);
  }
}
