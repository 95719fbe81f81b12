import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { openKafkaLog } from "../../deploy/kafka/event-log.js";
import { describeWithBroker } from "../support/describe-with-broker.js";
import { eventLogSuite } from "../support/event-log-suite.js";

describeWithBroker("on a Kafka broker", (broker) => {
  eventLogSuite("the event log on Kafka", async () => {
    const options = {
      brokers: broker().brokers,
      clientId: "test",
      prefix: `${randomUUID()}.`,
      partitions: 8,
      createTopics: true,
      sessionTimeoutMs: 10_000,
    };
    const open = () => openKafkaLog(options, pino({ level: "silent" }));
    let log = await open();
    return {
      log,
      async reopen() {
        await log[Symbol.asyncDispose]();
        return (log = await open());
      },
      close: async () => log[Symbol.asyncDispose](),
    };
  });
});
