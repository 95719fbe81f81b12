import { collectDefaultMetrics, Registry } from "prom-client";

/** A registry with the metrics of the process: memory, processor time, event loop lag, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
