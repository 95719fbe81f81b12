import { randomUUID } from "node:crypto";
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openKafkaLog } from "../../deploy/stores/kafka/event-log.js";
import { createKafka } from "../../deploy/stores/kafka/kafka-client.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";

const TOPIC_RESOURCE = 2;

describeWithBroker("the topic of the event log", (broker) => {
  const optionsFor = (prefix: string) => ({
    brokers: broker().brokers,
    clientId: "test",
    prefix,
    partitions: 1,
    createTopics: true,
  });

  const newPrefix = () => `${randomUUID()}.`;

  async function createByHand(prefix: string, settings: Record<string, string>): Promise<void> {
    const admin = createKafka(optionsFor(prefix), pino({ level: "silent" })).admin();
    await admin.connect();
    const configEntries = Object.entries({ "max.message.bytes": "4194304", ...settings }).map(
      ([name, value]) => ({ name, value }),
    );
    await admin.createTopics({
      topics: [{ topic: `${prefix}events.raw`, numPartitions: 1, configEntries }],
      waitForLeaders: true,
    });
    await admin.disconnect();
  }

  async function settingsOf(topic: string): Promise<Map<string, string>> {
    const admin = createKafka(optionsFor(""), pino({ level: "silent" })).admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name: topic }],
    });
    await admin.disconnect();
    return new Map(
      resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
  }

  /** Opens and closes the log, and gives what it warned of. */
  async function warningsOf(prefix: string): Promise<string[]> {
    const lines: { level: number; msg: string }[] = [];
    const write = new Writable({
      write: (line: Buffer, _, done) => {
        lines.push(JSON.parse(line.toString()) as { level: number; msg: string });
        done();
      },
    });
    const log = await openKafkaLog(optionsFor(prefix), pino({ level: "warn" }, write));
    await log[Symbol.asyncDispose]();
    return lines.map(({ msg }) => msg);
  }

  test("is made with deletion by age alone, and a healthy start warns of nothing", async () => {
    const prefix = newPrefix();
    expect(await warningsOf(prefix)).toEqual([]);
    const settings = await settingsOf(`${prefix}events.raw`);
    expect(Object.fromEntries(settings)).toMatchObject({
      "cleanup.policy": "delete",
      "retention.ms": "604800000",
      "retention.bytes": "-1",
      "max.message.bytes": "4194304",
    });
  });

  test.each(["compact", "compact,delete"])("is refused with cleanup.policy=%s", async (policy) => {
    const prefix = newPrefix();
    await createByHand(prefix, { "cleanup.policy": policy });
    await expect(openKafkaLog(optionsFor(prefix), pino({ level: "silent" }))).rejects.toThrow(
      /is compacted .*Set its cleanup\.policy to delete/,
    );
  });

  test("is warned of when its retention can lose what was not read", async () => {
    const prefix = newPrefix();
    await createByHand(prefix, { "retention.bytes": "1000000", "retention.ms": "3600000" });
    expect(await warningsOf(prefix)).toEqual([
      expect.stringContaining("the topic's retention.bytes is 1000000"),
      expect.stringContaining("the topic's retention.ms is 3600000"),
    ]);
  });

  test("that cannot be made is answered with Kafka's reason and what to create", async () => {
    const options = { ...optionsFor(newPrefix()), replicationFactor: 3 };
    await expect(openKafkaLog(options, pino({ level: "silent" }))).rejects.toThrow(
      /cannot be created \(.*[Rr]eplication.factor.*\)\. Create it: .*--replication-factor 3 .*cleanup\.policy=delete .*retention\.bytes=-1 --config min\.insync\.replicas=2$/,
    );
  });
});
