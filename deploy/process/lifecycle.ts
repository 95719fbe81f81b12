import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parentPort } from "node:worker_threads";

const EXIT_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/** The second SIGTERM or SIGINT exits at once, with the shell's status for it (143 or 130). */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    const onSignal = (signal: "SIGINT" | "SIGTERM") => {
      if (received) process.exit(EXIT_STATUS[signal]);
      received = true;
      resolve(signal);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** Calls `reload` on every SIGHUP until disposed of, and `onError` when it rejects. */
export function onReloadSignal(reload: () => Promise<void>, onError: (error: unknown) => void): Disposable {
  const onSignal = () => void reload().catch(onError);
  process.on("SIGHUP", onSignal);
  return { [Symbol.dispose]: () => process.off("SIGHUP", onSignal) };
}

interface Deadline {
  timeoutMs: number;
  /** Called when the time is up, before the process exits with status 1. */
  onMissed?: () => void;
}

/** Limits a drain to `timeoutMs`, until disposed of. The timer does not keep the process alive. */
export function startDeadline({ timeoutMs, onMissed }: Deadline): Disposable {
  const miss = () => {
    onMissed?.();
    process.exit(1);
  };
  const timer = setTimeout(miss, timeoutMs).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/**
 * For a module that `superviseThread` runs: resolves at `{ stop: true }`; passes other messages to
 * `onMessage`.
 */
export function untilStopped<Message extends object>(
  onMessage: (message: Exclude<Message, { stop: true }>) => void,
): Promise<undefined> {
  return new Promise((resolve) => {
    parentPort?.on("message", (message: Message) => {
      if ("stop" in message) resolve(undefined);
      else onMessage(message as Exclude<Message, { stop: true }>);
    });
  });
}

/** V8 collects only when more memory is wanted: an idle thread would keep what its last work left behind. */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
