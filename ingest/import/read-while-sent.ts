/** A sender without a byte for this long is taken for gone, even if its connection is open. */
const IDLE_MS_MAX = 120_000;

export interface ReadLimits {
  signal?: AbortSignal | undefined;
  idleMsMax?: number | undefined;
}

/**
 * Throws when the signal is aborted and when the sender is idle for too long. Does not destroy the body,
 * which would close the connection before the answer. One timer and one pending promise: a race with one that
 * lives as long as the upload would keep every part in memory.
 */
export async function* readWhileSent(
  body: AsyncIterable<Buffer>,
  { signal, idleMsMax = IDLE_MS_MAX }: ReadLimits = {},
): AsyncGenerator<Buffer> {
  const parts = body[Symbol.asyncIterator]();
  let fail = (_: Error): void => undefined;
  const idle = setTimeout(() => fail(new SenderIdle(idleMsMax)), idleMsMax);
  const abort = () => fail(signal?.reason as Error);
  signal?.addEventListener("abort", abort, { once: true });
  const next = () =>
    new Promise<IteratorResult<Buffer>>((resolve, reject) => {
      fail = reject;
      parts.next().then(resolve, reject);
    });
  try {
    for (;;) {
      signal?.throwIfAborted();
      // Measures only the sender: the timer restarts here, and firing while the consumer was busy had no effect.
      idle.refresh();
      const part = await next();
      if (part.done) return;
      yield part.value;
    }
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener("abort", abort);
  }
}

export class SenderIdle extends Error {
  constructor(idleMs: number) {
    super(`no data was received for ${idleMs / 1000} s`);
    this.name = "SenderIdle";
  }
}
