import type { ClientIdKind } from "./contracts/erasure.js";
import type { OwnerSettlement } from "./records/settlement.js";

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

/** The PostgreSQL side of erasing the events of clients. */
export interface ClientErasureStore {
  /** Owners with erasures that are due. */
  dueOwners(): Promise<string[]>;
  dueErasures(ownerId: string): Promise<OpenErasure[]>;
  /** Every package and pixel of the owner, UUIDs. */
  artifactsOf(ownerId: string): Promise<string[]>;
  /** Imports of the owner that refused lines, a page of them by id. */
  importsWithRefusedLines(
    ownerId: string,
    page: { after: string | undefined; limit: number },
  ): Promise<string[]>;
  /** Runs `work` as the only settlement of the owner in any process; false if there is another one. */
  asOnlySettlement(ownerId: string, work: (owner: OwnerSettlement) => Promise<void>): Promise<boolean>;
  /** Something was found, and is being erased: it becomes due again, after a longer time each time. */
  putFound(id: string, erased: ErasedNow): Promise<void>;
  /** Nothing was found, but lines that were received before may still come. */
  putWaiting(id: string): Promise<void>;
  /** Forgets the client's id. */
  putFinished(id: string): Promise<void>;
}
