import type { IncomingMessage } from "node:http";
import type { Account } from "../access/caller.js";

/** Requests that this process made to its own API for an account. Nobody outside can be in here. */
const CALLERS = new WeakMap<IncomingMessage, Account>();

/** Lets a request count as the account's own, as with the account's own token. */
export function actAs(request: IncomingMessage, account: Account): void {
  CALLERS.set(request, account);
}

export function inProcessCaller(request: IncomingMessage): Account | undefined {
  return CALLERS.get(request);
}
