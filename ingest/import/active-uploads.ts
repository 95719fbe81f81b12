import type { SharedCount } from "../../schemas/async/wake-up.js";

export class UploadAborted extends Error {
  constructor(importId: string) {
    super(`import ${importId} was aborted during its upload`);
    this.name = "UploadAborted";
  }
}

export interface ActiveUpload extends Disposable {
  readonly signal: AbortSignal;
  /** Ends it with that error, by default an `UploadAborted`. */
  abort(reason?: Error): void;
}

/** The uploads of this process, so that an abort stops them at once. An abort elsewhere shows in their lease. */
export class ActiveUploads {
  private readonly uploads = new Map<string, AbortController>();

  get size(): number {
    return this.uploads.size;
  }

  open(importId: string): ActiveUpload {
    const controller = new AbortController();
    this.uploads.set(importId, controller);
    return {
      signal: controller.signal,
      abort: (reason = new UploadAborted(importId)) => controller.abort(reason),
      [Symbol.dispose]: () => void this.uploads.delete(importId),
    };
  }

  abort(importId: string): void {
    this.uploads.get(importId)?.abort(new UploadAborted(importId));
  }
}

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

/**
 * Milliseconds: they begin at the stamp that PostgreSQL gave and go on with the time that passes. The clock
 * of this process can be set back, or differ from another one's.
 */
export function receiptClock(firstStamp: number, elapsedMs = () => performance.now()): () => number {
  const begun = elapsedMs();
  return () => firstStamp + Math.floor(elapsedMs() - begun);
}
