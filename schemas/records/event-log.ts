/** The topic of imports and live events; on Kafka a prefix may precede it. */
export const EVENTS_TOPIC = "events.raw";
/** The consumers of enrichment. */
export const ENRICH_GROUP = "enrich";
/** How many days a log that deletes by age keeps a record: enrichment may stand still for less. */
export const LOG_DAYS = 7;

/**
 * The event log, which ingest appends to and enrichment consumes. Its two implementations, on LMDB and on Kafka, pass
 * one shared test suite.
 */
export interface EventLog extends AsyncDisposable {
  /** Number of partitions. Different partitions are consumed concurrently. */
  readonly partitions: number;

  /**
   * Appends records to one partition, in order, and resolves once they survive a crash of this process. After a
   * rejection none of them may be acknowledged. Rejects with EventLogUnavailable if the log cannot be reached or has no
   * room.
   */
  append(records: readonly Uint8Array[], to: { partition: number }): Promise<void>;

  /**
   * Starts consuming for `group`. Batches of one partition come in order and one at a time. `handle` must call `commit`
   * before it returns. If it throws, consumption stops and `crashed` resolves with the error.
   */
  consume(options: ConsumeOptions, handle: (batch: LogBatch) => Promise<void>): Promise<LogConsumer>;
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
   * A batch ends before it exceeds this many bytes of record values; a larger record is a batch by itself. A function
   * is called before each batch.
   */
  batchBytesMax: number | (() => number);
  /** The bytes that a record counts for, at least its own length; by default its length. */
  sizeOf?: (value: Uint8Array) => number;
  /** Waits for records that are about to come, so that they share a batch. A log that fetches in groups may ignore it. */
  gather?: Gather;
  /** The embedded log has no broker that assigns partitions: consumer `index` of `of` takes its share. */
  share: { index: number; of: number };
  /** Consumes only the partitions of this lane; by default all of them. */
  lane?: Lane;
}

/**
 * A batch begins when nothing was appended for `quietMs`, at the latest `mostMs` after its first record was seen. Where more
 * are known to arrive, it begins soon after the last of them.
 */
export interface Gather {
  quietMs: number;
  mostMs: number;
  /** By default none arrive. */
  arriving?: Arriving | undefined;
}

/** The records that are about to be appended, as far as this process knows. */
export interface Arriving {
  /** How many there are. */
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
   * No other consumer is given these records for this many milliseconds after a call of `recordRange`, even if this process
   * stands still. Infinity where a log has no other consumers.
   */
  readonly ownedForMs: number;
  /**
   * Records durably that exactly this range is about to be written, with a note (up to 3 KB) of all that determines the
   * writes. After a crash the first batch of the partition is this range again, whatever was appended since, with the
   * note as `recordedNote`. Each call before the commit replaces the note, so that it can record progress.
   */
  recordRange(note: string): Promise<void>;
  /**
   * Commits the batch for the group and deletes the recorded range, in one step. Both methods fail with
   * EventLogUnavailable if a retry may succeed, and with BatchLost if it cannot.
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
  /** How many records were ever appended, those included that are deleted by now. */
  appended(): Promise<number>;
  /** Over all partitions, for metrics. */
  lag(group: string): Promise<number>;
  /** The lag of one lane, known within microseconds. Absent where a broker would have to be asked. */
  lagOfLane?(group: string, lane: Lane): number;
  /** Rejects while the log has no room for appends. Absent where a broker looks after its disks itself. */
  requireRoom?: () => Promise<void>;
}

/**
 * The two lanes of the event log. Short work goes on the express lane: live chunks, and the first chunks of each import
 * that is not known to be large. The rest goes on the bulk lane. Enrichment consumes the lanes side by side, so short work
 * never waits behind the backlog of large imports.
 */
export const LANES = ["express", "bulk"] as const;
export type Lane = (typeof LANES)[number];

const EXPRESS_SHARE = 1 / 4;

/**
 * The partitions of each lane: the first quarter is express. Records of any kind may be in any partition, because the
 * number of partitions may grow; only new appends follow the lanes. A single partition is express, and takes everything.
 */
export function partitionsOf(lane: Lane, partitions: number): number[] {
  const express = Math.max(1, Math.floor(partitions * EXPRESS_SHARE));
  const [first, end] = lane === "express" ? [0, express] : [express, partitions];
  return Array.from({ length: end - first }, (_, index) => first + index);
}
