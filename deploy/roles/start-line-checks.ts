import type { Logger } from "pino";
import type { CheckedLines, CheckLines } from "../../api/features/imports/dry-run.js";
import { limitConcurrency } from "../../schemas/async/limit-concurrency.js";
import { Problem } from "../../schemas/problem.js";
import { type SupervisedThread, superviseThread } from "../process/supervise-thread.js";
import type { CheckFailure, CheckThreadData, FromCheck, ToCheck } from "./check-thread.js";

export interface LineChecksOptions extends CheckThreadData {
  log: Logger;
  /** The module that the thread runs. */
  module?: URL;
}

export interface LineChecks extends AsyncDisposable {
  check: CheckLines;
}

interface Pending {
  resolve: (tally: CheckedLines) => void;
  reject: (error: Error) => void;
}

/** With one more, the thread need not wait for its next lines. */
const CHECKS_AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 5;
const MODULE = new URL("./check-thread.js", import.meta.url);

/**
 * Checks the lines of dry runs on a thread of their own, of the lowest priority, so that they delay no other request.
 * Owners and accounts take turns. The thread starts with the first dry run.
 */
export function openLineChecks({ log, module = MODULE, ...data }: LineChecksOptions): LineChecks {
  const pending = new Map<number, Pending>();
  const takePermits = limitConcurrency({ perKey: 1, inAll: CHECKS_AT_ONCE });
  let thread: SupervisedThread<ToCheck> | undefined;
  let lastId = 0;

  function onMessage(message: FromCheck): void {
    if ("ready" in message) return;
    const asked = pending.get(message.id);
    pending.delete(message.id);
    if ("tally" in message) asked?.resolve(message.tally);
    else asked?.reject(errorOf(message.failure));
  }

  function onEnded(): void {
    for (const { reject } of pending.values()) reject(errorOf(ENDED));
    pending.clear();
  }

  async function started(): Promise<SupervisedThread<ToCheck>> {
    const options = { module, name: "check", label: "the checks of dry runs", log, data: () => data };
    const current = (thread ??= superviseThread<ToCheck, FromCheck>({ ...options, onMessage, onEnded }));
    const forget = () => void (thread = thread === current ? undefined : thread);
    void current.lost.then(forget);
    await current.ready.catch((error: unknown) => {
      forget();
      throw error;
    });
    if (!current.isReady()) throw errorOf(ENDED);
    return current;
  }

  return {
    async check(lines, signal) {
      const { ownerId, accountId } = lines.target;
      using _permits = await takePermits([`account ${accountId}`, `owner ${ownerId}`], signal);
      const to = await started();
      const id = ++lastId;
      // A copy: a view would send the whole buffer that it is a part of.
      const bytes = new Uint8Array(lines.bytes);
      return await new Promise<CheckedLines>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        to.send({ id, lines: { ...lines, bytes } });
      });
    },
    async [Symbol.asyncDispose]() {
      await thread?.[Symbol.asyncDispose]();
    },
  };
}

const ENDED: CheckFailure = {
  code: "unavailable",
  message: "The lines could not be checked. Try again.",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

function errorOf({ code, message, retryAfterSeconds }: CheckFailure): Error {
  if (code === undefined) return new Error(message);
  return new Problem(code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
