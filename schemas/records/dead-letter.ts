/** A record of the event log that enrichment could not process. Its partition went on without it. */
export interface DeadLetter {
  /** `<log id>:<topic>:<partition>:<offset>`: a replay stores it once. */
  logPosition: string;
  partition: number;
  offset: number;
  /** Undefined where the record is too damaged to name its import. */
  importId: string | undefined;
  sequence: number;
  /** 1-based. */
  firstLine: number;
  lines: number;
  /** The record as it is in the log. */
  record: Uint8Array;
  /** A sentence for an operator. */
  reason: string;
  /** How often its enrichment was attempted. */
  tries: number;
}

/** Keeps dead letters until an operator retries or drops them. */
export interface DeadLetterStore {
  /** Stores those that are new, and answers their ids. One that an operator has retried or dropped is not new. */
  put(letters: readonly DeadLetter[]): Promise<number[]>;
}
