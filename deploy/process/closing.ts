/**
 * The last opened is closed first. A failure does not stop the others. Replaces AsyncDisposableStack, which
 * Node 20 lacks.
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
    if (failures.length > 0) throw new AggregateError(failures, "some resources could not be closed");
  }
}

/** Closes its resources at the same time, so that their durations do not add up. A failure does not stop the others. */
export class ClosingSet implements AsyncDisposable {
  private readonly open: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.open.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.open.splice(0).map(async (resource) => resource[Symbol.asyncDispose]());
    const failures = (await Promise.allSettled(closing)).flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    if (failures.length > 0) throw new AggregateError(failures, "some resources could not be closed");
  }
}
