/** What is opened when it is asked for; closed, once it is open. */
export interface LazyHandle<T> extends AsyncDisposable {
  /** Opens at the first call, and answers the same from then on. What failed is tried again by the next call. */
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
    throw new Error("it was closed before it was open");
  }

  return {
    get: () => (opening ??= openOnce()),
    async [Symbol.asyncDispose]() {
      closed = true;
      // What is still opening may take longer than a drain.
      await opened?.[Symbol.asyncDispose]();
    },
  };
}
