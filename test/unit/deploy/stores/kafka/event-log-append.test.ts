import type { Kafka, ProducerRecord } from "kafkajs";
import { expect, test } from "vitest";
import { openAppender, takeGroup } from "../../../../../deploy/stores/kafka/event-log-append.js";

const MIB = 2 ** 20;
const of = (partition: number, bytes: number) => ({ partition, record: Buffer.alloc(bytes) });
const shown = (group: { partition: number; record: Buffer }[]) =>
  group.map(({ partition, record }) => `${partition}:${record.length / MIB}`);

test("takes one record of each partition however large, and more while their batch has room", () => {
  const waiting = [of(0, 3 * MIB), of(1, MIB), of(0, MIB / 4), of(1, MIB), of(1, MIB / 4), of(2, MIB)];
  expect(shown(takeGroup(waiting))).toEqual(["0:3", "1:1", "1:1", "2:1"]);
  expect(shown(waiting)).toEqual(["0:0.25", "1:0.25"]);
});

test("lets no record of a partition overtake another", () => {
  const waiting = [of(0, MIB), of(0, 1.5 * MIB), of(0, MIB / 4)];
  expect(shown(takeGroup(waiting))).toEqual(["0:1"]);
  expect(shown(takeGroup(waiting))).toEqual(["0:1.5", "0:0.25"]);
  expect(waiting).toEqual([]);
});

/** Takes nothing for this partition. */
const REFUSED = 2;

function fakeKafka() {
  const requests: string[] = [];
  let producers = 0;
  const send = async ({ messages }: ProducerRecord) => {
    const partitions = [...new Set(messages.map(({ partition }) => partition))];
    requests.push(partitions.join());
    if (partitions.includes(REFUSED)) throw new Error("no leader");
    const [partition = 0] = partitions;
    return [{ partition, baseOffset: String(partition * 100) }];
  };
  const connect = async () => void (producers += 1);
  const producer = () => ({ connect, send, disconnect: async () => undefined });
  return { requests, producers: () => producers, kafka: { producer } as unknown as Kafka };
}

test("a request is about one partition, so that kafkajs has one broker to send it to", async () => {
  const { kafka, requests } = fakeKafka();
  const appender = openAppender(kafka, "events");
  const record = Buffer.from("a");
  const ends = await Promise.all([0, 1, 0].map((partition) => appender.append([record], partition)));
  expect(requests.sort()).toEqual(["0", "1"]);
  // Those behind each record.
  expect(ends).toEqual([1, 101, 2]);
});

test("records of other partitions are stored although those of one are refused, and the producer is replaced", async () => {
  const { kafka, producers } = fakeKafka();
  const appender = openAppender(kafka, "events");
  const record = Buffer.from("a");
  const appended = await Promise.allSettled(
    [0, REFUSED].map((partition) => appender.append([record], partition)),
  );
  expect(appended.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  await appender.append([record], 1);
  expect(producers()).toBe(2);
});
