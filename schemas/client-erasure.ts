import type { ClientIdKind } from "./contracts/erasure.js";

/** The erasure of one client's events while it is under way. */
export interface OpenErasure {
  /** UUID. */
  id: string;
  kind: ClientIdKind;
  /** 32 hexadecimal digits. */
  clientId: string;
  /** Milliseconds since the epoch: only lines that were received before are erased. */
  askedAt: number;
  /** Whether every import that began before it is settled, or is too old to wait for. */
  importsSettled: boolean;
}

/** The events and lines that a round found, and so had to erase. */
export interface ErasedNow {
  events: number;
  lines: number;
}
