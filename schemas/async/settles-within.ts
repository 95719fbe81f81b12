import { pause } from "./pause.js";

/** Whether the promise fulfils within this time; rejects when it does. Leaves no timer behind. */
export async function settlesWithin(promise: PromiseLike<unknown>, durationMs: number): Promise<boolean> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([promise.then(() => true), pause(durationMs, { signal }).then(() => false)]);
  } finally {
    settled.abort();
  }
}
