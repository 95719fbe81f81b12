export interface IdleWatch extends Disposable {
  /** Passes on the result of work. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** Calls `onIdle` once no work was done for `idleMs`, after each period of work. Keeps no process alive. */
export function whenIdle(idleMs: number, onIdle: () => void): IdleWatch {
  let working = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    async during(work) {
      working++;
      clearTimeout(timer);
      try {
        return await work;
      } finally {
        working--;
        if (working === 0) timer = setTimeout(onIdle, idleMs).unref();
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
