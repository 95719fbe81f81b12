import { ACTIVE_IMPORTS_MAX, tooManyActiveImports } from "../stores/imports/imports.js";

/** The dry runs of this process. A dry run costs as much as an import, so the same limit per owner applies. */
export class ActiveDryRuns {
  private readonly countByOwner = new Map<string, number>();

  /** @throws Problem too-many-active-imports */
  open(ownerId: string): Disposable {
    const count = this.countByOwner.get(ownerId) ?? 0;
    if (count >= ACTIVE_IMPORTS_MAX) throw tooManyActiveImports();
    this.countByOwner.set(ownerId, count + 1);
    return { [Symbol.dispose]: () => this.close(ownerId) };
  }

  private close(ownerId: string): void {
    const count = this.countByOwner.get(ownerId) ?? 0;
    if (count > 1) this.countByOwner.set(ownerId, count - 1);
    else this.countByOwner.delete(ownerId);
  }
}
