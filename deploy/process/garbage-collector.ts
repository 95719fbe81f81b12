import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Returns a function that collects all garbage of this thread. V8 does so only when more memory is wanted: without it an
 * idle thread keeps what its last work left behind.
 */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
