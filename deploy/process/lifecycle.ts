/** What the process hears from outside (signals) and the clock that bounds its end. */

const EXIT_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Resolves with the first SIGTERM or SIGINT, so that the program can drain; the second one exits at once
 * with the shell's status for that signal (130, 143).
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let heard = false;
    const hear = (signal: "SIGINT" | "SIGTERM") => {
      if (heard) process.exit(EXIT_STATUS[signal]);
      heard = true;
      resolve(signal);
    };
    process.on("SIGINT", hear);
    process.on("SIGTERM", hear);
  });
}

/** Calls `reload` on every SIGHUP until disposed of; `onError` hears of a reload that failed. */
export function onReloadSignal(reload: () => Promise<void>, onError: (error: unknown) => void): Disposable {
  const hear = () => void reload().catch(onError);
  process.on("SIGHUP", hear);
  return { [Symbol.dispose]: () => process.off("SIGHUP", hear) };
}

export interface Deadline {
  timeoutMs: number;
  /** Called when the time is up, before the process exits with status 1. */
  onMissed?: () => void;
}

/** Starts the clock of a drain; disposing of it stops the clock. It does not keep the process alive. */
export function startDeadline({ timeoutMs, onMissed }: Deadline): Disposable {
  const miss = () => {
    onMissed?.();
    process.exit(1);
  };
  const timer = setTimeout(miss, timeoutMs).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
