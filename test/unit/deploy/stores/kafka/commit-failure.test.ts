import kafkajs from "kafkajs";
import { describe, expect, test } from "vitest";
import { commitFailure, rejoinError } from "../../../../../deploy/stores/kafka/event-log-position.js";
import { BatchLost, EventLogUnavailable } from "../../../../../schemas/records/event-log.js";

const answered = (type: string) => new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type }));
const brokerNotFound = Object.assign(new Error("Broker 1 not found in the cached metadata"), {
  name: "KafkaJSBrokerNotFound",
});

describe("commitFailure", () => {
  test.each(["REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"])(
    "%s loses the batch, and kafkajs is given Kafka's answer",
    (type) => {
      const failure = commitFailure(answered(type));
      expect(failure).toBeInstanceOf(BatchLost);
      expect(rejoinError(failure)).toMatchObject({ name: "KafkaJSProtocolError", type });
    },
  );

  test("a coordinator that the cluster no longer has loses the batch, and has kafkajs look for another", () => {
    const failure = commitFailure(brokerNotFound);
    expect(failure).toBeInstanceOf(BatchLost);
    expect(failure.cause).toBe(brokerNotFound);
    // At this type kafkajs joins again: `isRebalancing` in its errors.js.
    expect(rejoinError(failure)).toMatchObject({
      name: "KafkaJSProtocolError",
      type: "NOT_COORDINATOR_FOR_GROUP",
    });
  });

  test.each([
    ["a connection that is refused", new kafkajs.KafkaJSConnectionError("connect ECONNREFUSED")],
    ["a coordinator that loads the group", answered("GROUP_LOAD_IN_PROGRESS")],
    ["a broker that restarts and does not know its groups yet", answered("NOT_COORDINATOR_FOR_GROUP")],
  ])("%s is to be retried", (_, error) => {
    const failure = commitFailure(error);
    expect(failure).toBeInstanceOf(EventLogUnavailable);
    expect(failure.cause).toBe(error);
  });
});
