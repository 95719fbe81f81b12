import { type Kafka, Partitioners, type Producer } from "kafkajs";
import { EventLogUnavailable } from "../../../schemas/records/event-log.js";
import { disconnect } from "./kafka-client.js";
import { RECORD_BYTES_MAX } from "./event-log-topic.js";

export interface Appender {
  append(records: readonly Uint8Array[], partition: number): Promise<number | undefined>;
  /** Resolves when nothing is waiting to be sent, and the connection is closed. */
  close(): Promise<void>;
}

interface Waiting {
  record: Buffer;
  partition: number;
  resolve: (end: number | undefined) => void;
  reject: (error: Error) => void;
}

/**
 * All that arrive while one group is under way are the next. The records of a partition share a request, one
 * at a time, of an idempotent producer: a repetition is stored once and in its place.
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
    const partitions = new Set(group.map(({ partition }) => partition));
    const sent = [...partitions].map((partition) =>
      sendTo(
        partition,
        group.filter((one) => one.partition === partition),
      ),
    );
    if ((await Promise.all(sent)).includes("failed")) await replaceProducer();
  }

  /**
   * One partition at a time: where a broker is gone and one that has answered already leads its partitions
   * now, kafkajs sends nothing to it again and reports success: the records would be lost.
   */
  async function sendTo(partition: number, records: readonly Waiting[]): Promise<"sent" | "failed"> {
    try {
      producer ??= openProducer(kafka);
      const messages = records.map(({ record: value }) => ({ value, partition }));
      const [stored] = await (await producer).send({ topic, acks: ALL_REPLICAS, messages });
      const first = Number(stored?.baseOffset ?? -1);
      for (const [index, { resolve }] of records.entries())
        resolve(first < 0 ? undefined : first + index + 1);
      return "sent";
    } catch (cause) {
      const error = new EventLogUnavailable("the records could not be written to Kafka", { cause });
      for (const { reject } of records) reject(error);
      return "failed";
    }
  }

  /**
   * A request that was given up may have been stored. The next one would use its sequence number again, and
   * be dropped.
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
          new Promise<number | undefined>((resolve, reject) => {
            waiting.push({ record: Buffer.from(record), partition, resolve, reject });
          }),
      );
      sending ??= sendAll();
      return (await Promise.all(appended)).at(-1);
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

/** The records of one partition become one batch, which the broker limits: the first goes in any case. */
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
