/** A record of the event log that enrichment could not process. Consumption of its partition continued after it. */
export interface DeadLetter {
  /** `<log id>:<topic>:<partition>:<offset>`. Makes a replay store it once. */
  logPosition: string;
  partition: number;
  offset: number;
  /** Undefined if the record is too damaged to name its import. */
  importId: string | undefined;
  sequence: number;
  /** 1-based. */
  firstLine: number;
  lines: number;
  /** The record as it is in the log. */
  record: Uint8Array;
  /** A sentence for an operator. */
  reason: string;
  /** The number of attempts to enrich it. */
  tries: number;
}
