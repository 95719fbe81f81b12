import type { EachBatchPayload } from "kafkajs";

/** Says that this consumer is alive while a batch is handled, however long that takes. */
export function sendHeartbeats(
  payload: EachBatchPayload,
  intervalMs: number,
): AsyncDisposable & { failure: () => Error | undefined } {
  let failure: Error | undefined;
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = payload.heartbeat().catch((error: Error) => {
      failure = error;
    });
  }, intervalMs);
  return {
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await beating;
    },
  };
}

/** At the most; several fit into any session time-out. */
const HEARTBEAT_MS = 1_000;
const HEARTBEATS_MIN = 3;

export function heartbeatMs(sessionTimeoutMs: number): number {
  return Math.min(HEARTBEAT_MS, sessionTimeoutMs / HEARTBEATS_MIN);
}
