import type { EventLog } from "../../../schemas/records/event-log.js";

/** For requests that end before anything is appended. */
export const UNUSED_LOG: EventLog = {
  partitions: 8,
  append: () => Promise.reject(new Error("nothing is appended here")),
  consume: () => Promise.reject(new Error("nothing is consumed here")),
  [Symbol.asyncDispose]: async () => undefined,
};
