/**
 * Measures time, in milliseconds, that also passes while the process or its machine stands still: the monotonic clock goes
 * on while a process is stopped, the wall clock is set right after a machine was.
 */
export function startStopwatch(): () => number {
  const monotonic = performance.now();
  const wall = Date.now();
  return () => Math.max(performance.now() - monotonic, Math.abs(Date.now() - wall));
}
