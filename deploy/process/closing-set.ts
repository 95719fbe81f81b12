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
