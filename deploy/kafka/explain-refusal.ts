import { StartFailure } from "../start-failure.js";

export interface Membership {
  /** As the brokers know it. */
  group: string;
  sessionTimeoutMs: number;
}

/** The sentence for a consumer that its group does not take, or the error itself when it has no known cause. */
export function explainRefusal(error: Error, { group, sessionTimeoutMs }: Membership): Error {
  const refusal = findRefusal(error);
  if (refusal === undefined) return error;
  const answer = `${refusal.message} (${refusal.type})`;
  const sentence =
    refusal.type === "INVALID_SESSION_TIMEOUT"
      ? `Kafka takes no consumer with KAFKA_SESSION_TIMEOUT_MS=${sessionTimeoutMs} into the group ${group}: ${answer}. It must be within the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms.`
      : `Kafka takes no consumer of this user into the group ${group}: ${answer}. It needs the right READ to this group.`;
  return new StartFailure(sentence, { cause: error });
}

interface Refusal {
  message: string;
  /** Kafka's name for it. */
  type: string;
}

const REFUSALS = new Set(["INVALID_SESSION_TIMEOUT", "GROUP_AUTHORIZATION_FAILED"]);

/** kafkajs may wrap what a broker answered. */
function findRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const { type = "" } = error as { type?: string };
  return REFUSALS.has(type) ? { message: error.message, type } : findRefusal(error.cause);
}
