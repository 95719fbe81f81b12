import kafkajs from "kafkajs";
import { BatchLost, EventLogUnavailable } from "../../../schemas/records/event-log.js";

/**
 * Translates the error of a failed commit: BatchLost where this consumer has to join its group again, and otherwise
 * EventLogUnavailable, which is retried.
 */
export function commitFailure(error: unknown): BatchLost | EventLogUnavailable {
  const { type = "" } = error as { type?: string };
  if (LOST.has(type)) return new BatchLost(`the group has moved on (${type})`, { cause: error });
  if (isBrokerGone(error))
    return new BatchLost("the broker that coordinated the group is gone", { cause: error });
  return new EventLogUnavailable("Kafka did not take a commit", { cause: error });
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
 * The error at which kafkajs has the consumer join its group again. Answers of Kafka do so by themselves. A coordinator that is
 * gone gives none, and kafkajs looks for a new one only when a consumer joins: NOT_COORDINATOR makes it join.
 */
export function rejoinError(lost: BatchLost): Error {
  const { cause } = lost;
  if (!isBrokerGone(cause)) return cause instanceof Error ? cause : lost;
  return new kafkajs.KafkaJSProtocolError(
    Object.assign(new Error(lost.message, { cause }), { type: "NOT_COORDINATOR_FOR_GROUP", code: 16 }),
  );
}
