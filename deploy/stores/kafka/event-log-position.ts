import kafkajs, { type Admin, type EachBatchPayload, type KafkaMessage } from "kafkajs";
import type { Logger } from "pino";
import { BatchLost, type ConsumeOptions, EventLogUnavailable } from "../../../schemas/records/event-log.js";
import { countWithinBytes } from "../count-within-bytes.js";

/** A group's position in a partition, and the range from there that a consumer will write. */
export interface Position {
  next: number | undefined;
  range: RecordedRange | undefined;
}

export interface RecordedRange {
  last: number;
  /** The timestamp of the last record. */
  lastTime: string;
  note: string;
}

/**
 * The committed offsets of the partitions with their metadata. The range that is being written is kept in that
 * metadata: one record of the broker holds both, so a rebalance cannot part them, the next consumer of the partition
 * reads both, and moving on forgets the range in the same write. It is fenced like any commit: a consumer that lost the
 * partition can record nothing any more.
 */
export async function readPositions(
  admin: Admin,
  { groupId, topic }: { groupId: string; topic: string },
): Promise<Map<number, Position>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return new Map(found?.partitions.map((committed) => [committed.partition, positionOf(committed)]));
}

function positionOf({ offset, metadata }: { offset: string; metadata: string | null }): Position {
  const next = Number(offset);
  return { next: next < 0 ? undefined : next, range: parseRange(metadata ?? "") };
}

export function formatRange(range: RecordedRange | undefined): string {
  if (range === undefined) return "";
  const { last, lastTime, note } = range;
  return `${last}@${lastTime} ${note}`;
}

function parseRange(metadata: string): RecordedRange | undefined {
  const [, last, lastTime = "", note = ""] = /^(\d+)@(-?\d+) ([^]*)$/.exec(metadata) ?? [];
  return last === undefined ? undefined : { last: Number(last), lastTime, note };
}

/** How many of the messages are the next batch; undefined when a recorded range has to be waited for. */
export function countOfNextBatch(
  messages: readonly KafkaMessage[],
  { range, options }: { range: Position["range"]; options: ConsumeOptions },
): number | undefined {
  if (range !== undefined) {
    const end = messages.findIndex(({ offset }) => Number(offset) >= range.last);
    return end < 0 ? undefined : end + 1;
  }
  return countWithinBytes(messages, { bytesMax: bytesMaxOf(options), sizeOf: options.sizeOf });
}

function bytesMaxOf({ batchBytesMax }: ConsumeOptions): number {
  return typeof batchBytesMax === "number" ? batchBytesMax : batchBytesMax();
}

/** A gap in the log at a group's position. Kafka does not report it to a consumer that goes on. */
interface Gap {
  /** Offsets that were deleted unread. Undefined if the log began anew before them. */
  lost: { first: number; last: number } | undefined;
  /** The offset that the group was at, and the one at which the log goes on. */
  expected: number;
  found: number;
}

/** Undefined when `found` is the record that was expected, or nothing was. */
export function gapAt(found: number, expected: number | undefined): Gap | undefined {
  if (expected === undefined || found === expected) return undefined;
  return { expected, found, lost: found > expected ? { first: expected, last: found - 1 } : undefined };
}

interface GapPlace {
  topic: string;
  partition: number;
  group: string;
}

/** Answers how many records are known to be lost. */
export function logGap(log: Logger, { lost, expected, found }: Gap, place: GapPlace): number {
  const fields = { ...place, expected, found };
  if (lost === undefined) {
    log.error(
      fields,
      "the event log was truncated or recreated: a partition went back to an earlier offset; reading it again",
    );
    return 0;
  }
  const records = lost.last - lost.first + 1;
  log.error({ ...fields, ...lost, records }, "records of the event log were deleted before they were read");
  return records;
}

/** Says that this consumer is alive while a batch is handled, however long that takes. */
export function sendHeartbeats(
  payload: EachBatchPayload,
  intervalMs: number,
): AsyncDisposable & { failure: () => Error | undefined } {
  let failure: Error | undefined;
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = payload.heartbeat().catch((error: Error) => {
      failure = error;
    });
  }, intervalMs);
  return {
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await beating;
    },
  };
}

/** At the most; several fit into any session time-out. */
const HEARTBEAT_MS = 1_000;
const HEARTBEATS_MIN = 3;

export function heartbeatMs(sessionTimeoutMs: number): number {
  return Math.min(HEARTBEAT_MS, sessionTimeoutMs / HEARTBEATS_MIN);
}

/**
 * BatchLost where this consumer has to join its group again, and otherwise EventLogUnavailable, which is
 * retried.
 */
export function commitFailure(error: unknown): BatchLost | EventLogUnavailable {
  const { type = "" } = error as { type?: string };
  if (LOST.has(type)) return new BatchLost(`the consumer group was rebalanced (${type})`, { cause: error });
  if (isBrokerGone(error))
    return new BatchLost("the broker that coordinated the group is gone", { cause: error });
  return new EventLogUnavailable("a commit to Kafka failed", { cause: error });
}

/** Kafka's names of the errors of a commit that mean that another member has, or will have, the partition. */
const LOST = new Set([
  "ILLEGAL_GENERATION",
  "UNKNOWN_MEMBER_ID",
  "REBALANCE_IN_PROGRESS",
  "FENCED_INSTANCE_ID",
]);

/** Whether kafkajs knows no such broker. It has asked the cluster for all of its brokers by the time it says so. */
export function isBrokerGone(error: unknown): boolean {
  return error instanceof Error && error.name === "KafkaJSBrokerNotFound";
}

/**
 * Has the consumer join its group again. A coordinator that is gone answers nothing, and kafkajs looks for a
 * new one only when a consumer joins: NOT_COORDINATOR makes it join.
 */
export function rejoinError(lost: BatchLost): Error {
  const { cause } = lost;
  if (!isBrokerGone(cause)) return cause instanceof Error ? cause : lost;
  return new kafkajs.KafkaJSProtocolError(
    Object.assign(new Error(lost.message, { cause }), { type: "NOT_COORDINATOR_FOR_GROUP", code: 16 }),
  );
}
