/** A record of the event log that was set aside: enrichment could not process it, and its partition went on. */
export interface ParkedChunk {
  /** `<log id>:<topic>:<partition>:<offset>`: a replay parks it once. */
  place: string;
  partition: number;
  offset: number;
  /** Undefined where not even that can be read. */
  importId: string | undefined;
  sequence: number;
  /** 1-based. */
  firstLine: number;
  lines: number;
  /** The record as it is in the log. */
  record: Uint8Array;
  /** A sentence for an operator. */
  reason: string;
  /** How often it was begun. */
  tries: number;
}

/** Where what was set aside waits for an operator. */
export interface ParkedChunks {
  /** Keeps those that are new, also when an operator has dealt with them since; answers their ids. */
  park(chunks: readonly ParkedChunk[]): Promise<number[]>;
}
