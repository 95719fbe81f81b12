/** A resource that the first call of `get` opens. Disposal closes it when it is open. */
export interface LazyHandle<T> extends AsyncDisposable {
  /** Opens the resource at the first call, and then returns the same one. After a failure, the next call tries again. */
  readonly get: () => Promise<T>;
}

export function lazyHandle<T extends AsyncDisposable>(open: () => Promise<T>): LazyHandle<T> {
  let opening: Promise<T> | undefined;
  let opened: T | undefined;
  let closed = false;

  async function openOnce(): Promise<T> {
    try {
      const resource = await open();
      if (!closed) return (opened = resource);
      await resource[Symbol.asyncDispose]();
    } catch (error) {
      opening = undefined;
      throw error;
    }
    throw new Error("the resource was closed before it was open");
  }

  return {
    get: () => (opening ??= openOnce()),
    async [Symbol.asyncDispose]() {
      closed = true;
      // Does not wait for a resource that is still opening, which may take longer than a drain.
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
