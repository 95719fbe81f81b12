import kafkajs, {
  type Admin,
  type Consumer,
  type EachBatchPayload,
  type Kafka,
  type KafkaMessage,
} from "kafkajs";
import type { Logger } from "pino";
import { BatchLost, type ConsumeOptions, type LogBatch } from "../../../schemas/records/event-log.js";
import {
  type Position,
  type RecordedRange,
  commitFailure,
  countOfNextBatch,
  formatRange,
  gapAt,
  heartbeatMs,
  isBrokerGone,
  logGap,
  readPositions,
  rejoinError,
  sendHeartbeats,
} from "./event-log-position.js";

/** How long Kafka waits in a rebalance for a member that does not join again. */
export const REBALANCE_TIMEOUT_MS = 60_000;

export interface ConsumerDependencies {
  kafka: Kafka;
  admin: Admin;
  topic: string;
  /** Begins every token: other records under the same offsets must not have the same one. */
  logId: string;
  /** A consumer that is silent for longer than this loses its partitions to others. */
  sessionTimeoutMs: number;
  log: Logger;
  onRecordsLost: (records: number) => void;
}

export interface ReaderDependencies extends ConsumerDependencies {
  options: ConsumeOptions;
  handle: (batch: LogBatch) => Promise<void>;
  crash: (error: Error) => void;
}

export interface Reader {
  take: (payload: EachBatchPayload) => Promise<void>;
  /**
   * Partitions may have changed hands: what was known of them is no longer true. Resolves when their positions were asked for,
   * and says whether they are still the latest.
   */
  forget: () => Promise<boolean>;
  /** Takes no more, and resolves when the batch in hand is done. */
  stop: () => Promise<void>;
}

/** A partition as this consumer has it. */
interface Assigned {
  position: Position;
  /** Fetched, and not enough yet for the range that has to be formed again. */
  held: KafkaMessage[];
}

/** Makes batches of what kafkajs fetches, and hands them over one at a time. */
export function openReader(consumer: Consumer, dependencies: ReaderDependencies): Reader {
  const { topic, options, handle, crash } = dependencies;
  let assigned = new Map<number, Assigned>();
  let generation = 0;
  let stopped = false;
  let inHand: Promise<void> = Promise.resolve();
  let joinedAt = Promise.resolve(new Map<number, Position>());

  async function take(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { partition } = batch;
    if (stopped) return;
    const mine = { partition, generation };
    const state = assigned.get(partition) ?? (await open(partition));
    if (mine.generation !== generation) return;
    assigned.set(partition, state);
    const messages = [...state.held, ...batch.messages];
    const [fetched] = batch.messages;
    if (fetched !== undefined) goOnAt(Number(fetched.offset), { partition, state });
    state.held = [];
    while (messages.length > 0 && !stopped && generation === mine.generation) {
      const count = countOfNextBatch(messages, { range: state.position.range, options });
      if (count === undefined) {
        // The rest of the range comes with the next fetch.
        state.held = messages;
        payload.resolveOffset(batch.lastOffset());
        return;
      }
      if (forgetReplaced(messages[count - 1], { partition, state })) continue;
      const records = messages.splice(0, count);
      await handOver(records, { state, mine, payload });
    }
  }

  async function open(partition: number): Promise<Assigned> {
    const positions = await joinedAt.catch(readHere);
    return { position: positions.get(partition) ?? { next: undefined, range: undefined }, held: [] };
  }

  function readHere(): Promise<Map<number, Position>> {
    return readPositions(dependencies.admin, { groupId: options.group, topic });
  }

  /**
   * kafkajs goes on at the first record that is left and says no more. A recorded range cannot be formed
   * again then: waiting for it would hold the partition for ever.
   */
  function goOnAt(found: number, { partition, state }: { partition: number; state: Assigned }): void {
    const { held, position } = state;
    const heldLast = held.at(-1)?.offset;
    const gap = gapAt(found, heldLast === undefined ? position.next : Number(heldLast) + 1);
    if (gap === undefined) return;
    state.position = { next: Number(held[0]?.offset ?? found), range: undefined };
    const records = logGap(dependencies.log, gap, { topic, partition, group: options.group });
    if (records > 0) dependencies.onRecordsLost(records);
  }

  /**
   * A log that was cut short within a recorded range and grew again has other records up to its last offset: what was
   * noted of the range, and what was written under its token, is not about them. Says whether it is so.
   */
  function forgetReplaced(
    last: KafkaMessage | undefined,
    { partition, state }: { partition: number; state: Assigned },
  ) {
    const { range } = state.position;
    if (last === undefined || range === undefined || isEndOf(range, last)) return false;
    state.position = { ...state.position, range: undefined };
    dependencies.log.error(
      { topic, partition, group: options.group, expected: range.last, found: Number(last.offset) },
      "the event log was truncated within a batch that was being written; reading the new records",
    );
    return true;
  }

  interface InHand {
    state: Assigned;
    mine: { partition: number; generation: number };
    payload: EachBatchPayload;
  }

  async function handOver(records: readonly KafkaMessage[], { state, mine, payload }: InHand): Promise<void> {
    const first = Number(records[0]?.offset);
    const last = Number(records.at(-1)?.offset);
    const { range: recorded } = state.position;
    const times = [records[0], records.at(-1)].map((record) => record?.timestamp ?? "") as [string, string];
    let committed = false;
    const commit = async (offset: number, range?: RecordedRange) => {
      if (generation !== mine.generation) throw new BatchLost(`partition ${mine.partition} was reassigned`);
      const at = { partition: mine.partition, offset: String(offset), metadata: formatRange(range) };
      // Not consumer.commitOffsets: that hides Kafka's name for an error, tries again under whatever generation there
      // is by then, and passes over the commit of a consumer that has stopped as if it were done.
      const send = () => payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [at] }] });
      try {
        await send().catch((error: unknown) => {
          // kafkajs also forgets a living broker, after a closed connection. It has asked for all of them again by now.
          if (isBrokerGone(error)) return send();
          throw error;
        });
      } catch (error) {
        throw commitFailure(error);
      }
      state.position = { next: offset, range };
    };
    const batch: LogBatch = {
      partition: mine.partition,
      records: records.map(({ offset, value }) => ({ offset: Number(offset), value: value ?? NOTHING })),
      // A topic that was made anew or cut short has the same offsets; the times of the records tell them apart.
      token: `${dependencies.logId}@${times.join("-")}:${topic}:${mine.partition}:${first}-${last}`,
      recordedNote: recorded?.note,
      // A commit counts as a heartbeat: the session lasts for its whole time from then. A rebalance gives the partition to
      // others after a time of its own, even if the session lasts longer: the shorter one counts.
      ownedForMs: Math.min(dependencies.sessionTimeoutMs, REBALANCE_TIMEOUT_MS),
      recordRange: (note) => commit(first, { last, lastTime: times[1], note }),
      commit: async () => {
        await commit(last + 1);
        committed = true;
      },
    };
    await using beating = sendHeartbeats(payload, heartbeatMs(dependencies.sessionTimeoutMs));
    try {
      const handling = handle(batch);
      inHand = handling.catch(() => undefined);
      await handling;
      if (!committed) throw new Error(`the handler returned without committing ${batch.token}`);
    } catch (error) {
      throw failed(error);
    }
    // Before the heartbeats are looked at: what kafkajs does not know to be done it fetches again.
    payload.resolveOffset(String(last));
    // A rebalance waits for this member to join again, which kafkajs does when it hears of it.
    const missed = beating.failure();
    if (missed !== undefined) throw missed;
  }

  /** A batch that was lost is somebody else's: this consumer goes on with what it is given next. */
  function failed(error: unknown): Error {
    if (error instanceof BatchLost && !stopped) {
      if (isBrokerGone(error.cause)) dependencies.log.warn({ topic, group: options.group }, error.message);
      return rejoinError(error);
    }
    stopped = true;
    crash(error instanceof Error ? error : new Error("consuming failed", { cause: error }));
    void consumer.disconnect().catch(() => undefined);
    return new kafkajs.KafkaJSNonRetriableError("consuming was stopped");
  }

  return {
    take,
    forget: async () => {
      const mine = ++generation;
      assigned = new Map();
      joinedAt = readHere();
      await joinedAt.catch(() => undefined);
      return mine === generation;
    },
    stop: async () => {
      stopped = true;
      await inHand;
    },
  };
}

const NOTHING = new Uint8Array();

function isEndOf({ last, lastTime }: RecordedRange, { offset, timestamp }: KafkaMessage): boolean {
  return Number(offset) === last && lastTime === timestamp;
}
