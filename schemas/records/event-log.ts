/**
 * The event log: what ingest appends to and enrichment consumes. Two implementations pass one shared
 * suite: the embedded log on LMDB and the one on Kafka.
 */
export interface EventLog extends AsyncDisposable {
  /** Number of partitions; records spread over them are consumed side by side. */
  readonly partitions: number;

  /**
   * Appends records to one partition, in order, and resolves when they survive a crash of this process.
   * A rejection, with EventLogUnavailable where the log cannot be reached or has no room, says that none of them
   * may be taken for acknowledged.
   */
  append(records: readonly Uint8Array[], to: { partition: number }): Promise<void>;

  /**
   * Starts consuming for `group`. Batches of one partition come in order and one at a time; `handle` must call
   * `commit` before it returns. When it throws, consuming stops and `crashed` resolves with the error.
   */
  consume(options: ConsumeOptions, handle: (batch: LogBatch) => Promise<void>): Promise<LogConsumer>;
}

/** The log could not take what was appended: its disk is full, or its broker away. Nothing of it was taken. */
export class EventLogUnavailable extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options);
    this.name = "EventLogUnavailable";
  }
}

/** The batch belongs to another consumer by now, who is given the same records: this one may not write them. */
export class BatchLost extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "BatchLost";
  }
}

export interface ConsumeOptions {
  group: string;
  /**
   * A batch ends before it exceeds this many bytes of record values; one larger record is a batch of its own. A
   * function is asked before each batch.
   */
  batchBytesMax: number | (() => number);
  /** The bytes that a record counts for, never less than it has; as many as it has where nothing is said. */
  sizeOf?: (value: Uint8Array) => number;
  /** The embedded log has no broker to divide partitions: consumer `index` of `of` takes its share of them. */
  share: { index: number; of: number };
}

export interface LogRecord {
  offset: number;
  value: Uint8Array;
}

/** Consecutive records of one partition, with the means to acknowledge them. */
export interface LogBatch {
  readonly partition: number;
  readonly records: readonly LogRecord[];
  /** `<log id>:<topic>:<partition>:<first>-<last>`: the same token always means the same records. */
  readonly token: string;
  /** The note of an earlier `recordRange` of this very range, when a crash came before its commit. */
  readonly recordedNote: string | undefined;
  /**
   * Records, durably, that exactly this range is about to be written, with a note (up to 3 KB) of whatever decides
   * what is written. After a crash the first batch of the partition is this range again, whatever was appended
   * since, and carries the note as `recordedNote`. It may be called again before the commit: the last note counts,
   * so that a range can tell how far it came.
   */
  recordRange(note: string): Promise<void>;
  /**
   * Moves the group past the batch and forgets the recorded range, in one step. Both fail with EventLogUnavailable
   * where trying again is of use, and with BatchLost where it is not.
   */
  commit(): Promise<void>;
}

export interface LogConsumer extends AsyncDisposable {
  /** Resolves with the reason when consuming stopped by itself; never when it was disposed of. */
  readonly crashed: Promise<Error>;
  /** Finishes the batches in hand, takes no more, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How far a group is behind, for metrics: records appended and not yet committed, over all partitions. */
export interface LagReader {
  lag(group: string): Promise<number>;
}
