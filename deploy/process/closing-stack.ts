/**
 * Things to close, closed in reverse order of opening, each whatever happened to the one before. Node 20 has no
 * AsyncDisposableStack yet.
 */
export class ClosingStack implements AsyncDisposable {
  private readonly open: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.open.push(resource);
    return resource;
  }

  defer(close: () => Promise<unknown>): void {
    this.open.push({ [Symbol.asyncDispose]: async () => void (await close()) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let resource = this.open.pop(); resource !== undefined; resource = this.open.pop()) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "not everything could be closed");
  }
}
