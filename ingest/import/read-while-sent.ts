/** A sender that stands still for so long has gone away, whatever its connection says. */
const IDLE_MS_MAX = 120_000;

export interface Patience {
  signal?: AbortSignal | undefined;
  idleMsMax?: number | undefined;
}

/**
 * Throws as soon as the signal says so, and when the sender stands still. The body is left as it is: destroying
 * it would close the connection before the answer is sent.
 *
 * One timer and one waiting promise: a race with a promise that lives as long as the upload would keep every part
 * of the body in memory until its end.
 */
export async function* readWhileSent(
  body: AsyncIterable<Buffer>,
  { signal, idleMsMax = IDLE_MS_MAX }: Patience = {},
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
      // Only the sender's time counts, not that of whoever takes the parts: what fired meanwhile was not heard.
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

/** The sender sent nothing for too long. */
export class SenderIdle extends Error {
  constructor(idleMs: number) {
    super(`the sender sent nothing for ${idleMs / 1000} s`);
    this.name = "SenderIdle";
  }
}
