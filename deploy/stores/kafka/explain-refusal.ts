import { StartFailure } from "../../process/start-failure.js";

export interface Membership {
  /** As the brokers know it. */
  group: string;
  sessionTimeoutMs: number;
}

/** The sentence for a consumer that its group does not take, or the error itself when it has no known cause. */
export function explainRefusal(error: Error, membership: Membership): Error {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { type, name } = at as { type?: string; name: string };
    const sentence = SENTENCES[type ?? name];
    if (sentence !== undefined)
      return new StartFailure(sentence(membership, `${at.message} (${type ?? name})`), { cause: error });
  }
  return error;
}

/** By Kafka's name for what a broker answered, or by that of kafkajs, which may hide it. */
const SENTENCES: Record<string, (membership: Membership, answer: string) => string> = {
  INVALID_SESSION_TIMEOUT: ({ group, sessionTimeoutMs }, answer) =>
    `Kafka takes no consumer with KAFKA_SESSION_TIMEOUT_MS=${sessionTimeoutMs} into the group ${group}: ${answer}. It must be within the brokers' group.min.session.timeout.ms and group.max.session.timeout.ms.`,
  GROUP_AUTHORIZATION_FAILED: ({ group }, answer) =>
    `Kafka takes no consumer of this user into the group ${group}: ${answer}. It needs the right READ to this group.`,
  // Also what kafkajs makes of GROUP_AUTHORIZATION_FAILED where the user may not even look at the group.
  KafkaJSGroupCoordinatorNotFound: ({ group }, answer) =>
    `Kafka names no coordinator for the group ${group}: ${answer}. Either this user lacks the right READ to this group, or the brokers are not ready yet.`,
};
