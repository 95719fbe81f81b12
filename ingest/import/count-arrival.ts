import type { SharedCount } from "../../schemas/async/shared-count.js";

/** A slower sender is not waited for: enrichment begins without its lines. */
const ARRIVAL_MS_MAX = 200;

/** An import whose first lines are about to be in the event log. */
export interface Arrival extends Disposable {
  /** Called when they are there. May be called again. */
  end(): void;
}

/** Counts an import as arriving until its first lines are in the log, for 200 ms at most. */
export function countArrival(arriving: SharedCount, msMax = ARRIVAL_MS_MAX): Arrival {
  let isCounted = true;
  arriving.add(1);
  const end = () => {
    if (isCounted) arriving.add(-1);
    isCounted = false;
    clearTimeout(timer);
  };
  const timer = setTimeout(end, msMax);
  return { end, [Symbol.dispose]: end };
}
