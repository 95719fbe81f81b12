import { Partitioners, type Kafka, type Producer } from "kafkajs";
import { EventLogUnavailable } from "../../../schemas/records/event-log.js";
import { disconnect } from "./disconnect.js";
import { RECORD_BYTES_MAX } from "./event-log-topic.js";

export interface Appender {
  append(records: readonly Uint8Array[], partition: number): Promise<void>;
  /** Resolves when nothing is waiting to be sent, and the connection is closed. */
  close(): Promise<void>;
}

interface Waiting {
  record: Buffer;
  partition: number;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Sends records in groups: all that arrive while one request is under way share the next. One request at a time and an
 * idempotent producer: a record that is sent again after a lost answer is stored once and in its place.
 */
export function openAppender(kafka: Kafka, topic: string): Appender {
  const waiting: Waiting[] = [];
  let producer: Promise<Producer> | undefined;
  let sending: Promise<void> | undefined;

  async function sendAll(): Promise<void> {
    await Promise.resolve(); // appends of the same turn join the first group
    while (waiting.length > 0) await sendGroup(takeGroup(waiting));
    sending = undefined;
  }

  async function sendGroup(group: readonly Waiting[]): Promise<void> {
    try {
      producer ??= openProducer(kafka);
      const messages = group.map(({ record: value, partition }) => ({ value, partition }));
      await (await producer).send({ topic, acks: ALL_REPLICAS, messages });
      for (const { resolve } of group) resolve();
    } catch (cause) {
      await replaceProducer();
      const error = new EventLogUnavailable("Kafka did not take the records", { cause });
      for (const { reject } of group) reject(error);
    }
  }

  /**
   * A request that was given up may have been stored. The next one would use its sequence number again, and be dropped
   * as a repetition. A new producer begins to count anew.
   */
  async function replaceProducer(): Promise<void> {
    const given = producer;
    producer = undefined;
    const opened = await given?.catch(() => undefined);
    if (opened !== undefined) await disconnect(opened);
  }

  return {
    async append(records, partition) {
      const appended = records.map(
        (record) =>
          new Promise<void>((resolve, reject) => {
            waiting.push({ record: Buffer.from(record), partition, resolve, reject });
          }),
      );
      sending ??= sendAll();
      await Promise.all(appended);
    },
    async close() {
      await sending;
      await replaceProducer();
    },
  };
}

const ALL_REPLICAS = -1;

async function openProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return producer;
}

/**
 * Takes the records of the next request. Those of one partition become one batch, which the broker limits: the first
 * goes in any case, later ones while there is room.
 */
export function takeGroup<Record extends Pick<Waiting, "record" | "partition">>(waiting: Record[]): Record[] {
  const room = new Map<number, number>();
  const group: Record[] = [];
  const left: Record[] = [];
  for (const one of waiting) {
    const { record, partition } = one;
    const before = room.get(partition);
    const after = (before ?? BATCH_BYTES_MAX) - record.length;
    // Once one had to wait, all behind it wait as well: records of a partition keep their order.
    const taken = before === undefined || after >= 0;
    room.set(partition, taken ? after : NO_ROOM);
    (taken ? group : left).push(one);
  }
  waiting.splice(0, Infinity, ...left);
  return group;
}

/** Half of what a record may have: Kafka counts a batch, not its records. */
const BATCH_BYTES_MAX = RECORD_BYTES_MAX / 2;
const NO_ROOM = -1;
