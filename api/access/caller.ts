import type { TokenLimits } from "./access.js";

export interface User {
  id: string;
  username: string;
}

/** The calling account and its token. */
export interface Account extends User {
  /** The keyed hash of the request's token. */
  tokenHash: Buffer;
  /** The additional token of the request; absent for the account's own, which has no limits. */
  limited?: LimitedToken | undefined;
}

/** The part of an additional token that limits its bearer. */
export interface LimitedToken extends TokenLimits {
  id: string;
  name: string;
}
