/** The topic of imports and live events; on Kafka a prefix may precede it. */
export const EVENTS_TOPIC = "events.raw";
export const ENRICH_GROUP = "enrich";
/** How many days a log that deletes by age keeps a record: enrichment may stand still for less. */
export const LOG_DAYS = 7;

/** Ingest appends to it and enrichment consumes. Both implementations pass one test suite. */
export interface EventLog extends AsyncDisposable {
  readonly partitions: number;

  /**
   * Appends to one partition, in order, and resolves once the records survive a crash of this process. Answers the offset
   * behind the last of them; undefined where the broker does not say. Rejects with EventLogUnavailable without a connection
   * or room; then none may be acknowledged.
   */
  append(records: readonly Uint8Array[], to: AppendTo): Promise<number | undefined>;

  /**
   * Batches of one partition come in order and one at a time. `handle` must `commit` before it returns. If it
   * throws, consumption stops and `crashed` resolves with the error.
   */
  consume(options: ConsumeOptions, handle: (batch: LogBatch) => Promise<void>): Promise<LogConsumer>;
}

export interface AppendTo {
  partition: number;
  /** Whose `unconsumedBytes` they add to. */
  ownerId?: string | undefined;
}

/** The log could not store an append: its disk is full, or its broker is unavailable. None of it was stored. */
export class EventLogUnavailable extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options);
    this.name = "EventLogUnavailable";
  }
}

/** This consumer may no longer write the batch: it, or another one, is given the same records again. */
export class BatchLost extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "BatchLost";
  }
}

export interface ConsumeOptions {
  group: string;
  /**
   * A batch ends before it exceeds this many bytes; a larger record is one by itself. Called before each
   * batch.
   */
  batchBytesMax: number | (() => number);
  /** The bytes that a record counts for, at least its own length; by default its length. */
  sizeOf?: (value: Uint8Array) => number;
  /** Waits for records that are about to come, so that they share a batch. A log that fetches in groups may ignore it. */
  gather?: Gather;
  /** The embedded log has no broker that assigns partitions: consumer `index` of `of` takes its share. */
  share: { index: number; of: number };
  /** Consumes only the partitions of this queue; by default all of them. */
  queue?: Queue;
}

/**
 * A batch begins when nothing was appended for `quietMs`, at the latest `mostMs` after its first record was
 * seen; where more are known to arrive, soon after the last of them.
 */
export interface Gather {
  quietMs: number;
  mostMs: number;
  /** By default none arrive. */
  arriving?: Arriving | undefined;
}

/** The records that are about to be appended, as far as this process knows. */
export interface Arriving {
  readonly value: number;
  /** Resolves when there are some where there were none, and else after this time or as soon as the signal aborts. */
  untilRisen(durationMs: number, options: { signal: AbortSignal }): Promise<void>;
}

export interface LogRecord {
  offset: number;
  value: Uint8Array;
}

/** Consecutive records of one partition, with the methods that acknowledge them. */
export interface LogBatch {
  readonly partition: number;
  /** Their bytes are valid until the commit, and may be overwritten after it. */
  readonly records: readonly LogRecord[];
  /** `<log id>:<topic>:<partition>:<first>-<last>`: the same token always means the same records. */
  readonly token: string;
  /** The note of an earlier `recordRange` of the same range, if a crash prevented its commit. */
  readonly recordedNote: string | undefined;
  /**
   * How long after `recordRange` nobody else is given these records, even if this process stands still.
   * Infinity where a log has no other consumers.
   */
  readonly ownedForMs: number;
  /**
   * Records durably that this range is about to be written, with a note (up to 3 KB) of what determines the
   * writes. After a crash the first batch is this range again, with the latest note as `recordedNote`.
   */
  recordRange(note: string): Promise<void>;
  /**
   * Commits the batch and deletes the recorded range in one step. Both methods fail with EventLogUnavailable
   * if a retry may succeed, and with BatchLost if it cannot.
   */
  commit(): Promise<void>;
}

export interface LogConsumer extends AsyncDisposable {
  /** Resolves with the reason if consumption stopped by itself; never after disposal. */
  readonly crashed: Promise<Error>;
  /** Finishes the batches under way, starts no more, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The lag of a group: records appended and not yet committed. */
export interface LagReader {
  /** The offset of each partition at which its next record will be. */
  ends(): Promise<number[]>;
  /** `below` are ends of before: then only records in front of them count. Those that a log has lost do not. */
  lag(group: string, options?: { below?: readonly number[] | undefined }): Promise<number>;
  /** The lag of one queue, known within microseconds. Absent where a broker would have to be asked. */
  lagOfQueue?(group: string, queue: Queue): number;
  /** Of records appended for an owner that some group has yet to consume. Absent where a broker would have to be asked. */
  unconsumedBytes?(ownerId: string): Promise<number>;
  /** Rejects while the log has no room for appends. Absent where a broker looks after its disks itself. */
  requireRoom?: () => Promise<void>;
}

/**
 * Live chunks and the first chunks of imports not known to be large are express, the rest is bulk. Enrichment
 * consumes both side by side, so short work never waits behind the backlog of large imports.
 */
export const QUEUES = ["express", "bulk"] as const;
export type Queue = (typeof QUEUES)[number];

const EXPRESS_SHARE = 1 / 4;

/**
 * The first quarter is express; a single partition takes everything. The number of partitions may grow, so
 * records of any kind may be in any partition: only new appends follow this.
 */
export function partitionsOf(queue: Queue, partitions: number): number[] {
  const express = Math.max(1, Math.floor(partitions * EXPRESS_SHARE));
  const [first, end] = queue === "express" ? [0, express] : [express, partitions];
  return Array.from({ length: end - first }, (_, index) => first + index);
}
