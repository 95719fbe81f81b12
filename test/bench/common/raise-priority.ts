import { getPriority, setPriority } from "node:os";

const PRIORITY = -10;

/**
 * Raises the priority of the thread that sends requests until disposed of. Real callers are on other machines and do
 * not wait for a core that the measured program uses. Only root may raise it; for others this does nothing, and
 * latencies include such waits. Linux weighs priorities only within a session (sched(7), "The autogroup feature"), so the
 * measured program runs in this session.
 */
export function raisePriority(): Disposable {
  const before = getPriority();
  try {
    setPriority(PRIORITY);
  } catch {
    return { [Symbol.dispose]: () => undefined };
  }
  return { [Symbol.dispose]: () => setPriority(before) };
}
